/** Event texts, in the form that users of the API know: they name the component, the Instance and what comes next. */
import { type Index, type InstanceRow, servingCondition } from '@omenative/api';
import type { EventIntent } from './effects.js';
import type { PodView, Snapshot } from './snapshot.js';

/** An Event about one Instance. `episode` is its operation, so that a repeat of the pass is the same Event. */
export function sayInstance(
  snapshot: Snapshot,
  type: EventIntent['type'],
  reason: string,
  index: Index,
  episode: string,
  text: string,
): EventIntent {
  return {
    reason,
    type,
    episode: `${index}/${episode}`,
    text: `OMENative component=${snapshot.spec.component} instance=${index}: ${text}`,
  };
}

/** An Event about the replica as a whole. */
export function sayReplica(
  snapshot: Snapshot,
  type: EventIntent['type'],
  reason: string,
  episode: string,
  text: string,
): EventIntent {
  const { namespace, name } = snapshot.replica;
  return {
    reason,
    type,
    episode,
    text: `InferenceReplica ${namespace}/${name} component=${snapshot.spec.component}: ${text}`,
  };
}

/** The end of a hold's text that names pods whose serving gate nobody can edit; '' when there is none. */
export function unreadableGates(pods: readonly PodView[]): string {
  const names = pods.filter((pod) => pod.gate.state === 'malformed').map((pod) => pod.name);
  if (names.length === 0) return '';
  return `; condition ${servingCondition} of ${names.join(', ')} lists no holds that can be read, so it is not touched: set its message to [] or delete the pod`;
}

/** `announced` with `entry`, once. */
export function announce(row: InstanceRow, entry: string): readonly string[] {
  return row.announced.includes(entry) ? row.announced : [...row.announced, entry];
}

/** More Normal Events of one kind in one pass than this are said in one. */
const mostAlike = 10;

/** Keeps a mass of alike Normal Events from drowning the ones that matter; a Warning is always said on its own. */
export function aggregated(snapshot: Snapshot, events: readonly EventIntent[]): readonly EventIntent[] {
  const alike = new Map<string, number>();
  for (const { type, reason } of events) {
    if (type === 'Normal') alike.set(reason, (alike.get(reason) ?? 0) + 1);
  }
  const many = new Set([...alike].filter(([, count]) => count > mostAlike).map(([reason]) => reason));
  const apart = events.filter((event) => event.type === 'Warning' || !many.has(event.reason));
  const summed = [...many].map((reason): EventIntent => {
    const first = events.find((event) => event.reason === reason);
    const count = alike.get(reason) ?? 0;
    return sayReplica(
      snapshot,
      'Normal',
      reason,
      `${first?.episode ?? ''}+${count}`,
      `${count} Instances at once; the first: ${first?.text ?? ''}`,
    );
  });
  return [...apart, ...summed];
}
