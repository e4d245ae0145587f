/** What a plan says, in words short enough for a test to compare. */
import type { DecodedStatus, Index, InstanceRow } from '@omenative/api';
import type { Effect } from '../effects.js';
import type { Hold } from '../hold.js';
import { plan } from '../plan.js';
import type { Plan } from '../plan-types.js';
import type { Snapshot } from '../snapshot.js';

/** The name of a pod without the prefix that all pods of these tests share. */
export function shortName(name: string): string {
  return name.replace(/^chat-engine-/, '');
}

/** The effects of a plan in order: `create 0-default-0`, `out …`, `in …`, `delete …`, and the replica's own by their verb. */
export function wishes(made: Plan): readonly string[] {
  return made.chains.flatMap((chain) => chain.effects).map(wishOf);
}

function wishOf(effect: Effect): string {
  switch (effect.do) {
    case 'createPod':
      return `create ${shortName(effect.name)}`;
    case 'gate':
      return `${effect.change === 'add' ? 'out' : 'in'} ${shortName(effect.pod.name)}`;
    case 'deletePod':
      return `delete ${shortName(effect.pod.name)}`;
    case 'finalizer':
      return `finalizer ${effect.change}`;
    case 'patchInPlace':
      return `patch ${shortName(effect.pod.name)}${Object.entries(effect.images)
        .map(([name, image]) => ` ${name}=${image}`)
        .join('')}`;
    case 'dropMarker':
      return `unmark ${shortName(effect.pod.name)}`;
    case 'ackMail':
      return `ack ${effect.annotation}=${effect.value}`;
    case 'createRevision':
    case 'deleteRevision':
    case 'ensureHeadless':
    case 'deleteHeadless':
      return effect.do;
  }
}

/** The status that a plan leaves behind: its own, or the one there was. */
export function statusAfter(snapshot: Snapshot): DecodedStatus {
  return plan(snapshot).status ?? snapshot.status;
}

/** The same world a moment later, with the plan's status persisted and nothing else done. */
export function persisted(snapshot: Snapshot): Snapshot {
  return { ...snapshot, status: statusAfter(snapshot) };
}

/** One row after a plan. */
export function rowAfter(snapshot: Snapshot, index: Index = 0): InstanceRow | undefined {
  return statusAfter(snapshot).rows.get(index);
}

/** All rows in index order: `0 ready, 1 creating`. */
export function kinds(status: DecodedStatus): string {
  return [...status.rows.values()]
    .toSorted((a, b) => a.index - b.index)
    .map((row) => `${row.index} ${row.kind}`)
    .join(', ');
}

/** The reasons of all holds, sorted, each once. */
export function holdsOf(made: Plan): string {
  return [...new Set(made.holds.map((hold) => hold.is))].toSorted().join(', ');
}

/** The first hold of this reason. */
export function holdOf(made: Plan, is: Hold['is']): Hold | undefined {
  return made.holds.find((hold) => hold.is === is);
}

/** Reason and text of each event. */
export function said(made: Plan): readonly string[] {
  return made.events.map((event) => `${event.reason}: ${event.text}`);
}
