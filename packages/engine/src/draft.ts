/** The working copy of one pass: rows as decided so far, and what was said about them. Lives only inside `transition`. */
import type { Index, InstanceRow, RolloutHold } from '@omenative/api';
import type { EventIntent } from './effects.js';
import type { Hold, Wakes } from './hold.js';
import type { Read } from './plan-types.js';
import type { Snapshot } from './snapshot.js';

/** What an operation decides for its unit. */
export type Step =
  /** The row as it shall be persisted. `hold` when it waits all the same. */
  | { readonly to: 'row'; readonly row: InstanceRow; readonly events?: readonly EventIntent[]; readonly hold?: Hold }
  /** The Instance is gone: its row is dropped. */
  | { readonly to: 'removed'; readonly events?: readonly EventIntent[] }
  | { readonly to: 'wait'; readonly hold: Hold }
  /** A decision on absence that nothing proves yet. */
  | { readonly to: 'read'; readonly read: Read; readonly hold: Hold }
  /** Converged: nothing to do and nothing to wait for. */
  | { readonly to: 'rest' };

export interface Draft {
  readonly snapshot: Snapshot;
  readonly rows: Map<Index, InstanceRow>;
  /** Units that an operation claimed in this pass; a later stage leaves them alone. */
  readonly claimed: Set<Index>;
  readonly holds: Hold[];
  readonly events: EventIntent[];
  readonly reads: Map<Index, Read>;
  /** The first refusal of an update in this pass; it wins over later ones. */
  rolloutHold: Omit<RolloutHold, 'since'> | undefined;
  updatesMoved: boolean;
}

export function newDraft(snapshot: Snapshot): Draft {
  return {
    snapshot,
    rows: new Map(snapshot.status.rows),
    claimed: new Set(),
    holds: [],
    events: [],
    reads: new Map(),
    rolloutHold: undefined,
    updatesMoved: false,
  };
}

/** Books a step in the draft. */
export function apply(draft: Draft, index: Index, step: Step): void {
  switch (step.to) {
    case 'row':
      draft.rows.set(index, step.row);
      draft.claimed.add(index);
      draft.events.push(...(step.events ?? []));
      if (step.hold !== undefined) draft.holds.push(step.hold);
      return;
    case 'removed':
      draft.rows.delete(index);
      draft.claimed.add(index);
      draft.events.push(...(step.events ?? []));
      return;
    case 'wait':
      draft.holds.push(step.hold);
      return;
    case 'read':
      draft.reads.set(index, step.read);
      draft.holds.push(step.hold);
      return;
    case 'rest':
      return;
  }
}

/** Forgets what an Instance waited for: its operation has ended in this very pass. */
export function forgetHolds(draft: Draft, index: Index): void {
  const kept = draft.holds.filter((hold) => hold.index !== index);
  draft.holds.splice(0, draft.holds.length, ...kept);
}

/** Wakes when any pod of the Instance changes. */
export function onPods(index: Index): { readonly on: 'pod'; readonly key: string } {
  return { on: 'pod', key: String(index) };
}

/** Wakes on the pods of `index`, and at `at` when there is such a time. */
export function podsOrAt(index: Index, at: number | undefined): Wakes {
  return at === undefined ? [onPods(index)] : [onPods(index), { at }];
}

/** Asks for a live read of one Instance's pods before it is believed that a pod is gone (R6). */
export function needsProof(index: Index, what: string): Step {
  return {
    to: 'read',
    read: { read: 'podsOfIndex', index },
    hold: { is: 'Unproved', index, text: `${what}; a live read must confirm it first`, wake: [onPods(index)] },
  };
}
