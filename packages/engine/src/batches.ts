/** How much of a scale-up or scale-down one pass may take on. Whole Instances, in order, and what is in flight counts. */

import type { Index } from '@omenative/api';
import { selectPrefix } from './budgets.js';
import type { Draft } from './draft.js';
import { createSet } from './operations/create.js';
import type { IntOrPercent, Snapshot } from './snapshot.js';
import { type Unit, unitsOf } from './units.js';

/** Pods that attempts in flight have not got yet. A blind Instance counts as if it had none. */
export function missingPods(snapshot: Snapshot, units: readonly Unit[]): number {
  return units.reduce((sum, unit) => {
    if (unit.row.kind !== 'creating') return sum;
    const set = createSet(snapshot, unit, unit.row);
    const lacking = snapshot.blind.has(unit.index)
      ? set.slots.length
      : set.slots.filter(({ occupant }) => occupant.is === 'missing').length;
    return sum + lacking;
  }, 0);
}

/** Pods of an Instance, or 1 when only its row is left to clean up. */
function deletionCost(unit: Unit): number {
  return Math.max(1, unit.pods.length);
}

/**
 * The Instances whose deletion may begin: none while an earlier wave is in flight, else the first of `extras` that fit.
 * `extras` come worst first.
 */
export function admitDeletes(draft: Draft, units: readonly Unit[], extras: readonly Index[]): readonly Unit[] {
  if (extras.length === 0) return [];
  const { snapshot } = draft;
  const rows = unitsOf(snapshot, draft.rows);
  const inFlight = rows.filter((unit) => unit.row.kind === 'deleting').length;
  const byIndex = new Map(units.map((unit) => [unit.index, unit]));
  const candidates = extras.flatMap((index) => {
    const unit = byIndex.get(index);
    const row = draft.rows.get(index);
    return unit === undefined || row === undefined ? [] : [{ ...unit, row }];
  });
  const limit = batchLimit(snapshot.config.scaleDownPodBatch, rows);
  const admitted =
    inFlight > 0 && limit !== undefined ? [] : selectPrefix(candidates, deletionCost, { limit, used: 0 });
  const waiting = candidates.length - admitted.length;
  if (waiting > 0) {
    draft.holds.push({
      is: 'DeleteQueue',
      text: `${waiting} Instance(s) wait for the deletions before them (lifecycle.scaleDownPodBatchSize ${snapshot.config.scaleDownPodBatch ?? 'unset'})`,
      wake: [{ on: 'pod', key: '*' }],
    });
  }
  return admitted;
}

/** A percentage is taken of all pods, rounded up, and is at least one pod. */
function batchLimit(batch: IntOrPercent | undefined, units: readonly Unit[]): number | undefined {
  if (batch === undefined || typeof batch === 'number') return batch;
  const percent = Number(/^(\d+)%$/.exec(batch)?.[1] ?? Number.NaN);
  if (Number.isNaN(percent)) return undefined;
  const footprint = units.reduce((sum, unit) => sum + deletionCost(unit), 0);
  return Math.max(1, Math.ceil((footprint * percent) / 100));
}
