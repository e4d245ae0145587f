/** What advances as one: an Instance's row with the pods that fill its slots, or pods that have no row. */
import { type Index, type InstanceRow, podName, type Rev, type Runner, revisionHashOf } from '@omenative/api';
import { isBooked } from './bookings.js';
import type { PodView, RunnerSpec, Snapshot } from './snapshot.js';

/** A place for one pod. Its name is what makes a repeated create harmless. */
export interface Slot {
  readonly name: string;
  readonly runner: Runner;
  readonly ordinal: number;
}

export interface Unit {
  readonly index: Index;
  readonly row: InstanceRow;
  /** Every pod of the index, in name order. */
  readonly pods: readonly PodView[];
}

/**
 * The slots of one life of an Instance: leader before workers, ordinals ascending. A runner of one pod uses the row's
 * active ordinal, so that a single-pod surge can alternate between two names.
 */
export function slotsOf(snapshot: Snapshot, index: Index, activeOrdinal: 0 | 1, rev: Rev | ''): readonly Slot[] {
  const { owner, component } = snapshot.spec;
  return runnersOf(snapshot, rev).flatMap(({ name: runner, size }) => {
    const ordinals = runner === 'default' ? [activeOrdinal] : Array.from({ length: size }, (_, ordinal) => ordinal);
    return ordinals.map((ordinal) => ({
      name: podName(owner, component, index, runner, ordinal),
      runner,
      ordinal,
    }));
  });
}

/** The runners of a stored revision; of the spec when the revision is the target or can't be read. */
export function runnersOf(snapshot: Snapshot, rev: Rev | ''): readonly RunnerSpec[] {
  if (rev === '' || rev === snapshot.specRevision) return snapshot.spec.runners;
  const stored = snapshot.revisions.get(rev);
  return stored === undefined || stored === 'gone' ? snapshot.spec.runners : stored.payload.runners;
}

export function isGang(snapshot: Snapshot): boolean {
  return snapshot.spec.runners.some((runner) => runner.name === 'leader');
}

/** A pod that has ended: its name must be freed before it can be used again. */
export function isTerminal(pod: PodView): boolean {
  return pod.phase === 'Failed' || pod.phase === 'Succeeded';
}

export function isTerminating(pod: PodView): boolean {
  return pod.deletionAt !== undefined;
}

/** Neither ended nor being deleted. */
export function isLive(pod: PodView): boolean {
  return !isTerminal(pod) && !isTerminating(pod);
}

/** In rotation as far as the pod itself says: `Ready`, gate open, and nobody has asked for its deletion. */
export function isServing(pod: PodView): boolean {
  return pod.ready && pod.gate.state === 'true' && isLive(pod);
}

/** Whether the pod was made from `rev`. A pod without the label belongs to no revision in particular. */
export function isOf(pod: PodView, rev: Rev | ''): boolean {
  return pod.revisionHash === '' || (rev !== '' && pod.revisionHash === revisionHashOf(rev));
}

/** What stands in one slot. */
export type Occupant =
  | { readonly is: 'missing' }
  | { readonly is: 'live'; readonly pod: PodView }
  | { readonly is: 'terminal'; readonly pod: PodView }
  | { readonly is: 'terminating'; readonly pod: PodView }
  /** A live pod of another revision or another life of the Instance: wreckage of an earlier attempt. */
  | { readonly is: 'stale'; readonly pod: PodView };

/** What stands in `slot` for an Instance that should run `rev` at `incarnation`. */
export function occupantOf(unit: Unit, slot: Slot, rev: Rev | '', incarnation: number): Occupant {
  const pod = unit.pods.find((candidate) => candidate.name === slot.name);
  if (pod === undefined) return { is: 'missing' };
  if (isTerminating(pod)) return { is: 'terminating', pod };
  if (isTerminal(pod)) return { is: 'terminal', pod };
  const sameLife = pod.incarnation === undefined || pod.incarnation === incarnation;
  return isOf(pod, rev) && sameLife && !isBooked(unit.row, pod) ? { is: 'live', pod } : { is: 'stale', pod };
}

/** The slots of a life with what stands in them. */
export interface PodSet {
  readonly slots: readonly { readonly slot: Slot; readonly occupant: Occupant }[];
  /** The live pods, in slot order. */
  readonly live: readonly PodView[];
  readonly isComplete: boolean;
}

export function podSetOf(unit: Unit, slots: readonly Slot[], rev: Rev | '', incarnation: number): PodSet {
  const filled = slots.map((slot) => ({ slot, occupant: occupantOf(unit, slot, rev, incarnation) }));
  const live = filled.flatMap(({ occupant }) => (occupant.is === 'live' ? [occupant.pod] : []));
  return { slots: filled, live, isComplete: live.length === slots.length };
}

/** The slots of a life with the pods of that life, of whatever revision: an update in place changes it under way. */
export function lifeSetOf(unit: Unit, slots: readonly Slot[], incarnation: number): PodSet {
  const filled = slots.map((slot) => {
    const pod = unit.pods.find(
      (candidate) =>
        candidate.name === slot.name && (candidate.incarnation === undefined || candidate.incarnation === incarnation),
    );
    return { slot, occupant: occupantFrom(pod) };
  });
  const live = filled.flatMap(({ occupant }) => (occupant.is === 'live' ? [occupant.pod] : []));
  return { slots: filled, live, isComplete: live.length === slots.length };
}

function occupantFrom(pod: PodView | undefined): Occupant {
  if (pod === undefined) return { is: 'missing' };
  if (isTerminating(pod)) return { is: 'terminating', pod };
  return isTerminal(pod) ? { is: 'terminal', pod } : { is: 'live', pod };
}

/** Pods of the index that stand in none of `slots`. */
export function extrasOf(unit: Unit, slots: readonly Slot[]): readonly PodView[] {
  const names = new Set(slots.map((slot) => slot.name));
  return unit.pods.filter((pod) => !names.has(pod.name));
}

/** The name of each pod in `slots` is known to be free: seen deleted by this process, or read live in this pass (R6). */
export function areProvedAbsent(snapshot: Snapshot, index: Index, slots: readonly Slot[]): boolean {
  return snapshot.proofs.readIndices.has(index) || slots.every((slot) => snapshot.proofs.absentPods.has(slot.name));
}

/** Rows with their pods, ascending. */
export function unitsOf(snapshot: Snapshot, rows: ReadonlyMap<Index, InstanceRow>): readonly Unit[] {
  return [...rows.values()]
    .toSorted((a, b) => a.index - b.index)
    .map((row) => ({ index: row.index, row, pods: snapshot.pods.get(row.index) ?? [] }));
}

/** Indices that have pods of ours and no row: a write of an earlier leader that arrived late, or a lost status. */
export function podsWithoutRow(
  snapshot: Snapshot,
  rows: ReadonlyMap<Index, InstanceRow>,
): readonly { readonly index: Index; readonly pods: readonly PodView[] }[] {
  return [...snapshot.pods]
    .filter(([index, pods]) => pods.length > 0 && !rows.has(index))
    .toSorted(([a], [b]) => a - b)
    .map(([index, pods]) => ({ index, pods }));
}
