/**
 * The first half of a plan: from what is persisted and what is seen to what shall be persisted. The order of the stages is
 * the order of precedence; an Instance that one stage claimed is left alone by the later ones.
 */
import type { DecodedStatus, Index, InstanceRow } from '@omenative/api';
import { admitDeletes } from './batches.js';
import { withoutSpentBookings } from './bookings.js';
import { withClock, withRefusal } from './clock.js';
import { conditionsOf, currentRevisionOf } from './conditions.js';
import { publishCounts } from './counts.js';
import { createInstances, wantedRevision } from './create-instances.js';
import { apply, type Draft, forgetHolds, newDraft } from './draft.js';
import type { EventIntent } from './effects.js';
import { keptBlocks } from './history.js';
import { type Held, holdOf, parkingOf } from './holds/parking.js';
import { readMail } from './mail.js';
import { adoptPods } from './operations/adopt.js';
import { advanceCreate, openCreate } from './operations/create.js';
import { advanceDelete, openDelete } from './operations/delete.js';
import { expire, isAttempt } from './operations/expire.js';
import { advanceParked } from './operations/parked.js';
import { advanceFailed, advanceReady } from './operations/resting.js';
import { rest } from './operations/row.js';
import { advanceGangSurge, isOrphanMarker, markerOf } from './operations/update-gang-surge.js';
import { advanceInPlace, isInPlace } from './operations/update-in-place.js';
import { advanceRecreate, isRecreating } from './operations/update-recreate.js';
import { advanceSurge, isSurging } from './operations/update-surge.js';
import { isAtRest, partitionHeld } from './pacing.js';
import { ladderOf } from './retry.js';
import { startUpdates } from './rollout.js';
import { sayReplica } from './say.js';
import { planIndices } from './scale.js';
import type { Snapshot } from './snapshot.js';
import { allUnits, current, freeUnits } from './stages.js';
import { isTerminating, type Unit, unitsOf } from './units.js';

export interface Transition {
  readonly status: DecodedStatus;
  readonly draft: Draft;
}

export function transition(snapshot: Snapshot): Transition {
  const draft = newDraft(snapshot);
  const deleting = snapshot.replica.deletingSince !== undefined;
  tidy(draft);
  if (!deleting) mendPairs(draft);
  const units = unitsOf(snapshot, draft.rows).filter((unit) => !isBlind(draft, unit));
  if (!deleting) runClocks(draft, units);
  const plan = deleting
    ? { missing: [], extras: units.map((unit) => unit.index).toReversed() }
    : planIndices(snapshot, allUnits(draft));
  adoptPods(draft, plan.missing.length);
  deleteUnits(draft, units, plan.extras);
  if (!deleting) {
    settle(draft, units);
    readMail(draft);
    const extras = new Set(plan.extras);
    const staying = units.filter((unit) => !extras.has(unit.index));
    startUpdates(draft, freeUnits(draft, staying));
    createInstances(draft, staying, planIndices(snapshot, allUnits(draft)).missing);
    fail(draft, units);
    const noRoom = draft.room.hold();
    if (noRoom !== undefined) draft.holds.push(noRoom);
  }
  return { status: publish(draft), draft };
}

/** Bookings that have served their purpose. */
function tidy(draft: Draft): void {
  const { snapshot, rows } = draft;
  for (const unit of unitsOf(snapshot, rows)) {
    if (snapshot.blind.has(unit.index)) continue;
    const { row } = unit;
    const pairs = row.kind === 'gangFrom' ? (snapshot.pods.get(row.op.surgeIndex) ?? []) : [];
    rows.set(unit.index, withoutSpentBookings(row, [...unit.pods, ...pairs]));
  }
}

/**
 * Halves of a gang surge that lost their other half are mended before anything is counted or started: a claim gets its
 * marker back or is given up, a marker without a claim becomes an Instance of its own.
 */
function mendPairs(draft: Draft): void {
  const { snapshot, rows } = draft;
  for (const unit of unitsOf(snapshot, rows)) {
    const { row } = unit;
    if (isUnseen(snapshot, unit)) continue;
    if (row.kind === 'gangFrom') {
      const marker = markerOf(rows, row).is;
      if (marker === 'missing' || marker === 'occupied') {
        apply(draft, unit.index, advanceGangSurge(snapshot, rows, unit, row));
      }
    } else if (isOrphanMarker(rows, row)) {
      const isKept = row.op.step === 'GangSurgeTarget' && row.op.target !== '';
      const mended = isKept
        ? openCreate(snapshot, rest(row), row.op.target, 'its update has lost the Instance it was to replace')
        : openDelete(snapshot, row, 'its update was given up');
      apply(draft, unit.index, { to: 'row', row: mended });
    }
  }
}

/** Both halves of a pair are blind when one is: they advance together. */
function isUnseen({ blind }: Snapshot, { index, row }: Unit): boolean {
  return blind.has(index) || (row.kind === 'gangFrom' && blind.has(row.op.surgeIndex));
}

/** Whether the unit is blind, and then says so. */
function isBlind(draft: Draft, unit: Unit): boolean {
  if (!isUnseen(draft.snapshot, unit)) return false;
  draft.holds.push({
    is: 'Blind',
    index: unit.index,
    text: `the watch has not shown our last write to Instance ${unit.index} yet`,
    wake: [{ on: 'floor', key: String(unit.index) }],
  });
  return true;
}

/** Parks or re-arms every attempt's clock before anything can fail. Deletions go on while a rollout is paused. */
function runClocks(draft: Draft, units: readonly Unit[]): void {
  const { snapshot } = draft;
  const { now, spec } = snapshot;
  for (const unit of units) {
    const { row } = current(draft, unit);
    if (!isAttempt(row)) continue;
    const held: Held = parkingOf(snapshot, unit, row);
    const hold = holdOf(unit, row, held);
    if (hold !== undefined) draft.holds.push(hold);
    const refused = withRefusal(row.op, held.capacityRefusedAt);
    const op = withClock(refused, held.parking, now, spec.instanceReadyTimeoutSec);
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
    for (const row of bothHalves(draft, unit.row)) {
      apply(draft, row.index, { to: 'row', row: openDelete(draft.snapshot, row, reason) });
    }
  }
}

/** The row and, of the source of a gang surge, its marker: a pair leaves together. */
function bothHalves(draft: Draft, row: InstanceRow): readonly InstanceRow[] {
  const marker = row.kind === 'gangFrom' ? markerOf(draft.rows, row) : undefined;
  return marker?.is === 'bound' ? [row, marker.row] : [row];
}

/** Operations in flight and resting rows: each takes the one step it can take. */
function settle(draft: Draft, units: readonly Unit[]): void {
  const { snapshot } = draft;
  const held = partitionHeld(snapshot, allUnits(draft));
  const ladder = () => ladderOf(draft.blocks, draft.rows.values(), snapshot.target, snapshot.now);
  for (const unit of freeUnits(draft, units)) {
    const { row, index } = unit;
    // Its pair may have been decided with another unit in this very pass.
    if (draft.claimed.has(index)) continue;
    switch (row.kind) {
      case 'ready':
        apply(draft, index, advanceReady(snapshot, unit, row));
        break;
      case 'failed':
        apply(draft, index, advanceFailed(snapshot, unit, row));
        break;
      case 'creating':
        apply(draft, index, advanceCreate(snapshot, unit, row, wantedRevision(draft, unit, held)));
        break;
      case 'updating':
        if (isSurging(row)) apply(draft, index, advanceSurge(snapshot, unit, row));
        else if (isRecreating(row)) apply(draft, index, advanceRecreate(snapshot, unit, row));
        else if (isInPlace(row)) apply(draft, index, advanceInPlace(snapshot, unit, row));
        break;
      case 'parked':
        apply(draft, index, advanceParked(snapshot, unit, row, ladder()));
        break;
      case 'gangFrom':
        apply(draft, index, advanceGangSurge(snapshot, draft.rows, unit, row));
        break;
      // Advanced with its source.
      case 'gangTo':
      case 'pending':
      case 'deleting':
        break;
      case 'restarting':
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

/** Last of all: attempts that this pass neither advanced nor opened may be at their end. */
function fail(draft: Draft, units: readonly Unit[]): void {
  for (const unit of freeUnits(draft, units)) {
    const { row } = unit;
    if (!isAttempt(row)) continue;
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
    blocks: draft.blocks,
    order: orderOf(previous.order, counted.rows),
    counters: counted.counters,
    labelSelector: counted.labelSelector,
    update: snapshot.replica.deletingSince === undefined ? snapshot.specRevision : previous.update,
  };
  const rolled: DecodedStatus = { ...withRows, current: currentRevisionOf(snapshot, withRows) };
  const { rolloutHold: _, ...unheld } = rolled;
  const hold = draft.updatesMoved ? undefined : draft.rolloutHold;
  const isSame = previous.rolloutHold?.gate === hold?.gate && previous.rolloutHold?.target === hold?.target;
  if (hold !== undefined && !isSame) draft.events.push(rolloutHeld(draft, hold));
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
  const pruned: DecodedStatus = { ...held, blocks: keptBlocks(snapshot, held) };
  return { ...pruned, conditions: conditionsOf(snapshot, pruned) };
}

/** A rollout that stands still is said once, in the words of its hold: a Warning unless it only takes its turn. */
function rolloutHeld(draft: Draft, hold: NonNullable<Draft['rolloutHold']>): EventIntent {
  const { snapshot } = draft;
  const type = hold.gate === 'Budget' && isUnderWay(draft) ? 'Normal' : 'Warning';
  const episode = `${hold.gate}/${hold.target ?? ''}/${snapshot.now}`;
  return sayReplica(snapshot, type, 'RolloutHeld', episode, `${hold.gate}: ${hold.reason}`);
}

/** Whether something ends by itself that a budget counts: an operation, or a pod that is on its way out. */
function isUnderWay({ rows, snapshot }: Draft): boolean {
  return (
    [...rows.values()].some(({ kind }) => !isAtRest(kind)) ||
    [...snapshot.pods.values()].some((pods) => pods.some(isTerminating))
  );
}

/** Rows keep their place; new ones come last, ascending. */
function orderOf(order: readonly Index[], rows: ReadonlyMap<Index, InstanceRow>): readonly Index[] {
  const kept = order.filter((index) => rows.has(index));
  const known = new Set(kept);
  return [...kept, ...[...rows.keys()].filter((index) => !known.has(index)).toSorted((a, b) => a - b)];
}
