/** Who may start an update: partition, order, and what already charges the surge budget. */
import type { Index, Rev } from '@omenative/api';
import { type Ledger, resolveBudget } from './budgets.js';
import { restingSet } from './operations/resting.js';
import { isSurging } from './operations/update-surge.js';
import { servesNow } from './readiness.js';
import type { PodView, Snapshot } from './snapshot.js';
import { isTerminating, slotsOf, type Unit } from './units.js';

/**
 * The `partition` lowest-indexed Instances that are not on the target and not on their way to it stay where they are.
 * By count, not by position: indices may have gaps.
 */
export function partitionHeld(snapshot: Snapshot, units: readonly Unit[]): ReadonlySet<Index> {
  const { partition } = snapshot.spec.update;
  const candidates = units
    .filter(
      ({ row }) => (row.kind === 'ready' || row.kind === 'failed' || row.kind === 'pending') && row.running !== '',
    )
    .filter(({ row }) => row.running !== snapshot.target);
  const rebuilding = units.filter(
    ({ row }) => row.kind === 'creating' && row.running !== '' && row.op.target !== snapshot.target,
  );
  return new Set(
    [...candidates, ...rebuilding]
      .map((unit) => unit.index)
      .toSorted((a, b) => a - b)
      .slice(0, partition),
  );
}

/** The revision an Instance without pods is built at: the target, unless the partition keeps it on the one it ran. */
export function rebuildRevision(snapshot: Snapshot, unit: Unit, held: ReadonlySet<Index>): Rev {
  const { running } = unit.row;
  const keeps = held.has(unit.index) && running !== '' && snapshot.revisions.get(running) !== 'gone';
  return keeps ? running : snapshot.target;
}

/** What holds a surge slot, with the pod that a refusal names. */
export interface SurgeCharge {
  readonly ledger: Ledger;
  readonly extra?: { readonly pod: string; readonly why: 'terminating' | 'leftover' };
}

/**
 * Charged: surges in flight, Instances on the target that don't serve yet, pods beyond an Instance's own count (dying ones
 * until their grace ends), and blind Instances, which count at their worst.
 */
export function surgeCharge(snapshot: Snapshot, units: readonly Unit[]): SurgeCharge {
  const limit = resolveBudget(snapshot.spec.update.maxSurge, snapshot.spec.replicas);
  let used = 0;
  let extra: SurgeCharge['extra'];
  for (const unit of units) {
    const { row } = unit;
    if (row.kind === 'deleting') continue;
    if (snapshot.blind.has(unit.index) || isSurging(row)) {
      used += 1;
      continue;
    }
    const isRolledDark =
      row.kind === 'ready' && row.running === snapshot.target && !servesNow(restingSet(snapshot, unit, row));
    const beyond = extraPods(snapshot, unit);
    if (isRolledDark || beyond.length > 0) used += 1;
    const first = beyond[0];
    if (first !== undefined) {
      extra ??= { pod: first.name, why: isTerminating(first) ? 'terminating' : 'leftover' };
    }
  }
  return { ledger: { limit, used }, ...(extra === undefined ? {} : { extra }) };
}

/** Pods in no slot of the row's own life that still count: live, or dying within their grace. */
function extraPods(snapshot: Snapshot, unit: Unit): readonly PodView[] {
  const own = new Set(slotsOf(snapshot, unit.index, unit.row.activeOrdinal, unit.row.running).map((slot) => slot.name));
  return unit.pods.filter(
    (pod) =>
      !own.has(pod.name) &&
      (pod.deletionAt === undefined || pod.deletionAt > snapshot.now) &&
      pod.phase !== 'Failed' &&
      pod.phase !== 'Succeeded',
  );
}

/** The next moment at which a dying pod stops holding a slot. */
export function slotFreedAt(snapshot: Snapshot, units: readonly Unit[]): number | undefined {
  const times = units
    .flatMap((unit) => extraPods(snapshot, unit))
    .flatMap((pod) => (pod.deletionAt === undefined ? [] : [pod.deletionAt]));
  return times.length === 0 ? undefined : Math.min(...times);
}
