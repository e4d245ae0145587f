/**
 * The first half of a plan: from what is persisted and what is seen to what shall be persisted. The order of the stages is
 * the order of precedence; an Instance that one stage claimed is left alone by the later ones.
 */
import { type DecodedStatus, type Index, type InstanceRow, newRowBase } from '@omenative/api';
import { admitDeletes, missingPods } from './batches.js';
import { selectPrefix } from './budgets.js';
import { withClock } from './clock.js';
import { conditionsOf, currentRevisionOf } from './conditions.js';
import { publishCounts } from './counts.js';
import { apply, type Draft, forgetHolds, newDraft } from './draft.js';
import type { EventIntent } from './effects.js';
import { parkingOf } from './holds/parking.js';
import { adoptPods } from './operations/adopt.js';
import { advanceCreate, openCreate } from './operations/create.js';
import { advanceDelete, openDelete } from './operations/delete.js';
import { expire } from './operations/expire.js';
import { withoutSpentBookings } from './operations/recycle.js';
import { advanceFailed, advanceReady, restingSet } from './operations/resting.js';
import { advanceSurge, isSurging } from './operations/update-surge.js';
import { partitionHeld, rebuildRevision } from './pacing.js';
import { servesNow } from './readiness.js';
import { startUpdates } from './rollout.js';
import { sayInstance, sayReplica } from './say.js';
import { planIndices } from './scale.js';
import type { Snapshot } from './snapshot.js';
import { type Unit, unitsOf } from './units.js';

export interface Transition {
  readonly status: DecodedStatus;
  readonly draft: Draft;
}

export function transition(snapshot: Snapshot): Transition {
  const draft = newDraft(snapshot);
  tidy(draft);
  const units = unitsOf(snapshot, draft.rows).filter((unit) => !isBlind(draft, unit.index));
  const deleting = snapshot.replica.deletingSince !== undefined;
  if (!deleting) runClocks(draft, units);
  const plan = deleting
    ? { missing: [], extras: units.map((unit) => unit.index).toReversed() }
    : planIndices(snapshot, allUnits(draft));
  adoptPods(draft, plan.missing.length);
  deleteUnits(draft, units, plan.extras);
  if (!deleting) {
    settle(draft, units);
    const extras = new Set(plan.extras);
    const staying = units.filter((unit) => !extras.has(unit.index));
    startUpdates(draft, freeUnits(draft, staying));
    create(draft, staying, planIndices(snapshot, allUnits(draft)).missing);
    fail(draft, units);
  }
  return { status: publish(draft), draft };
}

/** Bookings that have served their purpose. */
function tidy(draft: Draft): void {
  for (const unit of unitsOf(draft.snapshot, draft.rows)) {
    if (!draft.snapshot.blind.has(unit.index)) draft.rows.set(unit.index, withoutSpentBookings(unit.row, unit));
  }
}

function isBlind(draft: Draft, index: Index): boolean {
  if (!draft.snapshot.blind.has(index)) return false;
  draft.holds.push({
    is: 'Blind',
    index,
    text: `the watch has not shown our last write to Instance ${index} yet`,
    wake: [{ on: 'floor', key: String(index) }],
  });
  return true;
}

/** Parks or re-arms every attempt's clock before anything can fail. Deletions go on while a rollout is paused. */
function runClocks(draft: Draft, units: readonly Unit[]): void {
  const { now, spec } = draft.snapshot;
  for (const unit of units) {
    const row = current(draft, unit).row;
    if (row.kind !== 'creating' && !isSurging(row)) continue;
    const op = withClock(row.op, parkingOf(draft.snapshot, unit), now, spec.instanceReadyTimeoutSec);
    if (op !== row.op) draft.rows.set(unit.index, { ...row, op } as InstanceRow);
  }
}

/** Deletions in flight first; a new wave is admitted only when none is. */
function deleteUnits(draft: Draft, units: readonly Unit[], extras: readonly Index[]): void {
  const deleting = units.map((unit) => current(draft, unit)).filter((unit) => unit.row.kind === 'deleting');
  for (const unit of deleting) {
    if (unit.row.kind === 'deleting') apply(draft, unit.index, advanceDelete(draft.snapshot, unit, unit.row));
  }
  const fresh = extras.filter((index) => draft.rows.get(index)?.kind !== 'deleting');
  const reason = draft.snapshot.replica.deletingSince === undefined ? 'scale down' : 'teardown';
  for (const unit of admitDeletes(draft, units, fresh)) {
    apply(draft, unit.index, { to: 'row', row: openDelete(draft.snapshot, unit.row, reason) });
  }
}

/** Operations in flight and resting rows: each takes the one step it can take. */
function settle(draft: Draft, units: readonly Unit[]): void {
  const { snapshot } = draft;
  const held = partitionHeld(snapshot, allUnits(draft));
  for (const unit of freeUnits(draft, units)) {
    const { row, index } = unit;
    switch (row.kind) {
      case 'ready':
        apply(draft, index, advanceReady(snapshot, unit, row));
        break;
      case 'failed':
        apply(draft, index, advanceFailed(snapshot, unit, row));
        break;
      case 'creating':
        apply(draft, index, advanceCreate(snapshot, unit, row, rebuildRevision(snapshot, unit, held)));
        break;
      case 'updating':
        if (isSurging(row)) apply(draft, index, advanceSurge(snapshot, unit, row));
        else notDriven(draft, unit);
        break;
      case 'pending':
      case 'deleting':
        break;
      case 'restarting':
      case 'parked':
      case 'gangFrom':
      case 'gangTo':
      case 'migrateFrom':
      case 'migrateTo':
      case 'foreign':
        notDriven(draft, unit);
        break;
    }
  }
}

/** A state that this version keeps and counts but does not advance. */
function notDriven(draft: Draft, unit: Unit): void {
  draft.holds.push({
    is: 'Foreign',
    index: unit.index,
    text: `Instance ${unit.index} is in a state that this version does not advance (${unit.row.kind}); scale it down to replace it`,
    wake: [{ user: 'spec' }],
  });
}

/** Rebuilds what is Pending, retries what failed at another revision, then adds what is missing; whole Instances only. */
function create(draft: Draft, units: readonly Unit[], missing: readonly Index[]): void {
  const { snapshot } = draft;
  if (snapshot.spec.pause !== 'running') return;
  const held = partitionHeld(snapshot, allUnits(draft));
  const rebuilds = freeUnits(draft, units).filter((unit) => unit.row.kind === 'pending' || startsOver(snapshot, unit));
  const candidates: readonly Unit[] = [
    ...rebuilds,
    ...missing.map((index): Unit => ({ index, row: { ...newRowBase(index), kind: 'pending' }, pods: [] })),
  ].toSorted((a, b) => a.index - b.index);
  const size = snapshot.spec.runners.reduce((sum, runner) => sum + runner.size, 0);
  const used = missingPods(snapshot, unitsOf(snapshot, draft.rows));
  const selected = selectPrefix(candidates, () => size, { limit: snapshot.config.scaleUpPodBatch, used });
  for (const unit of selected) {
    const rev = rebuildRevision(snapshot, unit, held);
    const reason = unit.row.running === '' ? 'scale up' : 'the Instance lost its pods';
    const row = openCreate(snapshot, unit.row, rev, reason);
    const created = sayInstance(
      snapshot,
      'Normal',
      'InstanceCreated',
      row.index,
      row.op.id,
      `its pods are created at revision ${rev} (${reason})`,
    );
    apply(draft, unit.index, { to: 'row', row, events: [created] });
  }
  const waiting = candidates.length - selected.length;
  if (waiting > 0) {
    draft.holds.push({
      is: 'Batch',
      text: `${waiting} Instance(s) wait for the pods of this batch to be created (lifecycle.scaleUpPodBatchSize ${snapshot.config.scaleUpPodBatch})`,
      wake: [
        { on: 'pod', key: '*' },
        { on: 'floor', key: '*' },
      ],
    });
  }
}

/** It never ran and failed at another revision. One that serves by now is about to heal, and is then updated like others. */
function startsOver(snapshot: Snapshot, unit: Unit): boolean {
  const { row } = unit;
  if (row.kind !== 'failed' || row.running !== '' || row.target === snapshot.target) return false;
  return !servesNow(restingSet(snapshot, unit, row));
}

/** Last of all: attempts that this pass neither advanced nor opened may be at their end. */
function fail(draft: Draft, units: readonly Unit[]): void {
  for (const unit of freeUnits(draft, units)) {
    const { row } = unit;
    if (row.kind !== 'creating' && !isSurging(row)) continue;
    const step = expire(draft.snapshot, unit, row);
    if (step === undefined) continue;
    forgetHolds(draft, unit.index);
    apply(draft, unit.index, step);
  }
}

/** Derives everything the status says beside the rows. */
function publish(draft: Draft): DecodedStatus {
  const { snapshot } = draft;
  const counted = publishCounts(snapshot, draft.rows);
  const previous = snapshot.status;
  const withRows: DecodedStatus = {
    ...previous,
    observedGeneration: snapshot.replica.generation,
    rows: counted.rows,
    order: orderOf(previous.order, counted.rows),
    counters: counted.counters,
    labelSelector: counted.labelSelector,
    update: snapshot.replica.deletingSince === undefined ? snapshot.specRevision : previous.update,
  };
  const rolled: DecodedStatus = { ...withRows, current: currentRevisionOf(snapshot, withRows) };
  const { rolloutHold: _, ...unheld } = rolled;
  const hold = draft.updatesMoved ? undefined : draft.rolloutHold;
  const isSame = previous.rolloutHold?.gate === hold?.gate && previous.rolloutHold?.target === hold?.target;
  if (hold !== undefined && !isSame) draft.events.push(rolloutHeld(snapshot, hold));
  const held: DecodedStatus =
    hold === undefined
      ? unheld
      : {
          ...unheld,
          rolloutHold: {
            ...hold,
            since: isSame ? (previous.rolloutHold?.since ?? snapshot.now) : snapshot.now,
          },
        };
  return { ...held, conditions: conditionsOf(snapshot, held) };
}

/** A rollout that stands still is said once, in the words of its hold. */
function rolloutHeld(snapshot: Snapshot, hold: NonNullable<Draft['rolloutHold']>): EventIntent {
  const episode = `${hold.gate}/${hold.target ?? ''}/${snapshot.now}`;
  return sayReplica(snapshot, 'Warning', 'RolloutHeld', episode, `${hold.gate}: ${hold.reason}`);
}

/** Rows keep their place; new ones come last, ascending. */
function orderOf(order: readonly Index[], rows: ReadonlyMap<Index, InstanceRow>): readonly Index[] {
  const kept = order.filter((index) => rows.has(index));
  const known = new Set(kept);
  return [...kept, ...[...rows.keys()].filter((index) => !known.has(index)).toSorted((a, b) => a - b)];
}

/** The unit with its row as decided so far. */
function current(draft: Draft, unit: Unit): Unit {
  const row = draft.rows.get(unit.index);
  return row === undefined || row === unit.row ? unit : { ...unit, row };
}

function freeUnits(draft: Draft, units: readonly Unit[]): readonly Unit[] {
  return units
    .filter((unit) => !draft.claimed.has(unit.index) && draft.rows.has(unit.index))
    .map((unit) => current(draft, unit));
}

function allUnits(draft: Draft): readonly Unit[] {
  return unitsOf(draft.snapshot, draft.rows);
}
