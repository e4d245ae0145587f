/** Event texts, in the form that users of the API know: they name the component, the Instance and what comes next. */
import type { Index, InstanceRow } from '@omenative/api';
import type { EventIntent } from './effects.js';
import type { Snapshot } from './snapshot.js';

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

/** `announced` with `entry`, once. */
export function announce(row: InstanceRow, entry: string): readonly string[] {
  return row.announced.includes(entry) ? row.announced : [...row.announced, entry];
}
