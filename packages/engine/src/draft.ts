/** The working copy of one pass: rows as decided so far, and what was said about them. Lives only inside `transition`. */
import type { Index, InstanceRow, RetryBlock, Rev, RolloutHold } from '@omenative/api';
import type { EventIntent } from './effects.js';
import type { Hold, Wakes } from './hold.js';
import type { Read } from './plan-types.js';
import { type Wave, withAttempt, withFailure, withoutBlock } from './retry.js';
import type { Snapshot } from './snapshot.js';
import { StatusRoom } from './status-room.js';

/** What an operation decides for its unit. */
export type Step =
  /** The row as it shall be persisted. `hold` when it waits all the same. */
  | ({ readonly to: 'row'; readonly row: InstanceRow; readonly hold?: Hold } & Consequences)
  /** Several rows in one write: the two halves of a gang that is replaced. `row` is the unit's own, absent when it goes. */
  | ({
      readonly to: 'rows';
      readonly rows: readonly InstanceRow[];
      readonly removed: readonly Index[];
      readonly hold?: Hold;
    } & Consequences)
  /** The Instance is gone: its row is dropped. */
  | { readonly to: 'removed'; readonly events?: readonly EventIntent[] }
  | { readonly to: 'wait'; readonly hold: Hold }
  /** A decision on absence that nothing proves yet. */
  | { readonly to: 'read'; readonly read: Read; readonly hold: Hold }
  /** Converged: nothing to do and nothing to wait for. */
  | { readonly to: 'rest' };

/** What goes with a step into the same write. */
interface Consequences {
  readonly events?: readonly EventIntent[];
  /** An attempt has failed: its revision's ladder hears of it. */
  readonly failed?: Wave;
  /** An attempt has begun: it takes the token of its revision's ladder. */
  readonly tries?: Rev;
  /** An Instance has become Ready on this revision, so nothing speaks against it any more. */
  readonly proved?: Rev;
}

export interface Draft {
  readonly snapshot: Snapshot;
  readonly rows: Map<Index, InstanceRow>;
  blocks: readonly RetryBlock[];
  /** Units that an operation claimed in this pass; a later stage leaves them alone. */
  readonly claimed: Set<Index>;
  readonly holds: Hold[];
  readonly events: EventIntent[];
  readonly reads: Map<Index, Read>;
  /** The first refusal of an update in this pass; it wins over later ones. */
  rolloutHold: Omit<RolloutHold, 'since'> | undefined;
  updatesMoved: boolean;
  readonly room: StatusRoom;
}

export function newDraft(snapshot: Snapshot): Draft {
  const rows = new Map(snapshot.status.rows);
  return {
    snapshot,
    rows,
    room: new StatusRoom(snapshot, rows),
    blocks: snapshot.status.blocks,
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
      bookConsequences(draft, step);
      if (step.hold !== undefined) draft.holds.push(step.hold);
      return;
    case 'rows':
      for (const row of step.rows) {
        draft.rows.set(row.index, row);
        draft.claimed.add(row.index);
      }
      for (const gone of step.removed) {
        draft.rows.delete(gone);
        draft.claimed.add(gone);
      }
      bookConsequences(draft, step);
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

function bookConsequences(draft: Draft, { events, failed, tries, proved }: Consequences): void {
  draft.events.push(...(events ?? []));
  const { now, config, replica, spec } = draft.snapshot;
  if (proved !== undefined) draft.blocks = withoutBlock(draft.blocks, proved);
  if (tries !== undefined) draft.blocks = withAttempt(draft.blocks, tries);
  if (failed === undefined) return;
  const before = draft.blocks;
  draft.blocks = withFailure(before, failed, config.updateRetry, now);
  const block = draft.blocks.find((other) => other.target === failed.rev);
  if (draft.blocks === before || block?.state !== 'Held') return;
  draft.events.push({
    reason: 'RetryHeld',
    type: 'Warning',
    episode: `${failed.rev}/${now}`,
    text: `InferenceReplica ${replica.namespace}/${replica.name} component=${spec.component} update to revision ${failed.rev} held after ${block.attempts} failed attempt(s) (last failure: ${failed.reason}); publish a corrected revision or raise lifecycle.updateRetry limits`,
  });
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
