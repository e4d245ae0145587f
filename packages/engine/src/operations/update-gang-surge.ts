/**
 * SurgeThenDrain of a gang: a whole second gang comes up at a new index, and the old one goes once the new one serves. Two
 * rows, one unit: the source holds the operation and the claim on the index, the marker holds the place of the replacement.
 * Each step changes both in one write, so that a killed controller never finds half a pair of its own making; halves that
 * others left behind are mended before anything else.
 */
import {
  type GangFromOp,
  type GangToOp,
  type Index,
  type InstanceRow,
  newRowBase,
  type Rev,
  revisionHashOf,
} from '@omenative/api';
import { needsProof, onPods, podsOrAt, type Step } from '../draft.js';
import type { Hold } from '../hold.js';
import { isContainersReady, promotionOf, servesNow } from '../readiness.js';
import { sayInstance } from '../say.js';
import type { Snapshot } from '../snapshot.js';
import { areProvedAbsent, isTerminating, type PodSet, podSetOf, slotsOf, type Unit } from '../units.js';
import { openDelete } from './delete.js';
import { recycleStep } from './recycle.js';
import { restingSet } from './resting.js';
import { rest } from './row.js';
import { newUpdate, updated } from './update.js';
import { leaving, staysReady, untilResumed } from './waits.js';

export type GangSourceRow = InstanceRow & { readonly kind: 'gangFrom' };
export type GangMarkerRow = InstanceRow & { readonly kind: 'gangTo' };

/** What stands at the index that a source claims. */
export type Marker =
  | { readonly is: 'bound'; readonly row: GangMarkerRow }
  /** The replacement has been made Ready already and its source is still there: it only has to go. */
  | { readonly is: 'promoted'; readonly row: InstanceRow }
  | { readonly is: 'missing' }
  /** Another Instance has the index: the claim is void. */
  | { readonly is: 'occupied' };

export function markerOf(rows: ReadonlyMap<Index, InstanceRow>, source: GangSourceRow): Marker {
  const row = rows.get(source.op.surgeIndex);
  if (hasEarlierClaim(rows, source)) return { is: 'occupied' };
  if (row === undefined) return { is: 'missing' };
  if (row.kind === 'gangTo' && row.op.target === source.op.target) return { is: 'bound', row };
  if (row.kind === 'ready' && row.running !== '' && row.running === source.op.target) return { is: 'promoted', row };
  return { is: 'occupied' };
}

/** Of two sources that claim one index, the lower one has it. */
function hasEarlierClaim(rows: ReadonlyMap<Index, InstanceRow>, source: GangSourceRow): boolean {
  for (const other of rows.values()) {
    if (other.kind !== 'gangFrom' || other.index >= source.index) continue;
    if (other.op.surgeIndex === source.op.surgeIndex) return true;
  }
  return false;
}

/** The source whose claim a marker belongs to. */
export function sourceOf(rows: ReadonlyMap<Index, InstanceRow>, marker: GangMarkerRow): GangSourceRow | undefined {
  for (const row of rows.values()) {
    if (row.kind !== 'gangFrom' || row.op.surgeIndex !== marker.index) continue;
    const found = markerOf(rows, row);
    if (found.is === 'bound' && found.row === marker) return row;
  }
  return undefined;
}

/** The pods of the replacement. Bookings about them are kept on the source's row, which owns the operation. */
export function replacementOf(snapshot: Snapshot, source: GangSourceRow): PodSet {
  const { surgeIndex, target } = source.op;
  const slots = slotsOf(snapshot, surgeIndex, 0, target);
  return podSetOf(replacementUnit(snapshot, source), slots, target, 1);
}

export function replacementUnit(snapshot: Snapshot, source: GangSourceRow): Unit {
  return { index: source.op.surgeIndex, row: source, pods: snapshot.pods.get(source.op.surgeIndex) ?? [] };
}

export function sourceSetOf(snapshot: Snapshot, unit: Unit, row: GangSourceRow): PodSet {
  return podSetOf(unit, slotsOf(snapshot, row.index, row.activeOrdinal, row.running), row.running, row.incarnation);
}

/** Both rows that start a gang surge to `target`, whose replacement gets `surgeIndex`; the caller has charged the budget. */
export function openGangSurge(snapshot: Snapshot, surgeIndex: Index, row: InstanceRow, target: Rev): Step {
  const op: GangFromOp = { ...newUpdate(snapshot, row, target, 'SurgeThenDrain'), step: 'Surge', surgeIndex };
  const source: GangSourceRow = { ...rest(row), kind: 'gangFrom', phase: 'Updating', target, op };
  return {
    to: 'rows',
    rows: [source, newMarker(source)],
    removed: [],
    tries: target,
    events: [
      sayInstance(
        snapshot,
        'Normal',
        'RecreateUpdateStarted',
        row.index,
        op.id,
        `surge to revision ${target}: a new gang at index ${surgeIndex} serves before this one leaves rotation`,
      ),
    ],
  };
}

/** The marker of a source. Everything it says follows from the source, so that a lost one can be written again. */
function newMarker(source: GangSourceRow): GangMarkerRow {
  const { surgeIndex, ...op } = source.op;
  const marker: GangToOp = { ...op, step: 'GangSurgeTarget', id: markerIdOf(source) };
  return { ...newRowBase(surgeIndex), kind: 'gangTo', phase: 'Creating', target: op.target, op: marker };
}

/** The operation in whose name the pods of the replacement are made. */
export function markerIdOf({ op }: GangSourceRow): string {
  return `update-${op.surgeIndex}-${op.startedAt ?? 0}-${revisionHashOf(op.target)}`;
}

/** One step of a pair. `rows` are the rows as decided so far in this pass. */
export function advanceGangSurge(
  snapshot: Snapshot,
  rows: ReadonlyMap<Index, InstanceRow>,
  unit: Unit,
  row: GangSourceRow,
): Step {
  const marker = markerOf(rows, row);
  switch (marker.is) {
    case 'missing':
      return { to: 'rows', rows: [newMarker(row)], removed: [] };
    case 'occupied':
      return releaseClaim(snapshot, row);
    case 'promoted':
      return retire(snapshot, row, marker.row);
    case 'bound':
      return marker.row.op.step === 'GangSurgeTargetCleanup'
        ? cleanUp(snapshot, row)
        : advancePair(snapshot, unit, row, marker.row);
  }
}

/** Another Instance holds the index that this one claims: it is left alone, and the source starts over when it may. */
function releaseClaim(snapshot: Snapshot, row: GangSourceRow): Step {
  return {
    to: 'row',
    row: backToRunning(row),
    events: [
      sayInstance(
        snapshot,
        'Warning',
        'GangSurgeAbandoned',
        row.index,
        row.op.id,
        `index ${row.op.surgeIndex}, which its update to ${row.op.target} claims, belongs to another Instance; the update starts over`,
      ),
    ],
  };
}

function backToRunning(row: GangSourceRow): InstanceRow {
  return { ...rest(row), kind: row.running === '' ? 'failed' : 'ready', target: '' };
}

/**
 * The replacement is an Instance already, as another writer may leave it: the source goes like one that has no place any more.
 * While the other does not serve, both are Instances, and the one that serves is kept.
 */
function retire(snapshot: Snapshot, row: GangSourceRow, heir: InstanceRow): Step {
  if (snapshot.spec.pause !== 'running') {
    const text = `Instance ${row.index} is replaced by ${heir.index} and goes when the rollout is resumed`;
    return untilResumed(row.index, text);
  }
  const pods = snapshot.pods.get(heir.index) ?? [];
  const set = restingSet(snapshot, { index: heir.index, row: heir, pods }, heir);
  if (!servesNow(set)) return { to: 'row', row: backToRunning(row) };
  const deleting = openDelete(snapshot, row, `replaced by Instance ${heir.index}`);
  return { to: 'row', row: deleting, events: [completed(snapshot, row)] };
}

/** Gives the replacement up: what there is of it goes first. */
function abandon(snapshot: Snapshot, row: GangSourceRow, marker: GangMarkerRow): Step {
  if (isReplacementGone(snapshot, row)) return giveBack(snapshot, row);
  const op: GangToOp = { ...marker.op, step: 'GangSurgeTargetCleanup', lastProgressAt: snapshot.now };
  return { to: 'rows', rows: [{ ...marker, op }], removed: [] };
}

function isReplacementGone(snapshot: Snapshot, row: GangSourceRow): boolean {
  const { surgeIndex, target } = row.op;
  const slots = slotsOf(snapshot, surgeIndex, 0, target);
  return replacementUnit(snapshot, row).pods.length === 0 && areProvedAbsent(snapshot, surgeIndex, slots);
}

function cleanUp(snapshot: Snapshot, row: GangSourceRow): Step {
  if (isReplacementGone(snapshot, row)) return giveBack(snapshot, row);
  const { surgeIndex } = row.op;
  const { pods } = replacementUnit(snapshot, row);
  if (pods.length === 0) return needsProof(surgeIndex, `the replacement of Instance ${row.index} seems to be gone`);
  return {
    to: 'wait',
    hold: {
      is: 'PodsTerminating',
      index: row.index,
      text: `the replacement of Instance ${row.index} at index ${surgeIndex} is removed: ${pods.map((pod) => pod.name).join(', ')}`,
      wake: [onPods(surgeIndex), { on: 'slice', key: String(surgeIndex) }],
    },
  };
}

/** The replacement is given up and gone: its row goes, and the source is Ready on the revision it never left. */
function giveBack(snapshot: Snapshot, row: GangSourceRow): Step {
  const { surgeIndex } = row.op;
  const isFailed = row.phase === 'Failed';
  const why = isFailed
    ? `failed (${row.lastFailure?.reason ?? 'unknown'}: ${row.lastFailure?.message ?? ''})`
    : `is superseded by ${snapshot.target}`;
  return {
    to: 'rows',
    // What failed last time is remembered, so that the ladder can tell a retry from a first try.
    rows: [{ ...backToRunning(row), target: isFailed ? row.op.target : '' }],
    removed: [surgeIndex],
    events: [
      sayInstance(
        snapshot,
        isFailed ? 'Warning' : 'Normal',
        'GangSurgeAbandoned',
        row.index,
        row.op.id,
        `its replacement at revision ${row.op.target} ${why}; it stays on revision ${row.running}`,
      ),
    ],
  };
}

function advancePair(snapshot: Snapshot, unit: Unit, row: GangSourceRow, marker: GangMarkerRow): Step {
  const { spec, now } = snapshot;
  const set = replacementOf(snapshot, row);
  const isDraining = row.op.step === 'SurgeDrain';
  // Past the drain the source is no longer all there, and what has been begun is finished.
  const mayTurnBack = !isDraining || isIntact(snapshot, unit, row);
  const isSuperseded =
    row.op.target !== snapshot.target && spec.pause === 'running' && mayTurnBack && !isContainersReady(set);
  if (row.phase === 'Failed' || isSuperseded) return abandon(snapshot, row, marker);
  const recycle = recycleStep(snapshot, replacementUnit(snapshot, row), row, set);
  if (recycle !== undefined) return recycle;
  const promotion = promotionOf(set, isDraining ? 0 : spec.minReadySeconds, now);
  switch (promotion.is) {
    case 'never':
      return { to: 'wait', hold: notServing(row, set) };
    case 'later':
      return staysReady(
        snapshot,
        row.index,
        `the replacement of Instance ${row.index} at index ${marker.index} serves and must stay Ready`,
        promotion.at,
        marker.index,
      );
    case 'now':
      return isSourceOut(unit)
        ? complete(snapshot, unit, row, marker, promotion.readySince)
        : drain(snapshot, unit, row);
  }
}

/** Every pod of the source is there, and none has been asked to go. */
function isIntact(snapshot: Snapshot, unit: Unit, row: GangSourceRow): boolean {
  return isContainersReady(sourceSetOf(snapshot, unit, row));
}

/** Every pod of the source is gone or on its way out. */
function isSourceOut(unit: Unit): boolean {
  return unit.pods.every(isTerminating);
}

function isSourceGone(snapshot: Snapshot, unit: Unit, row: GangSourceRow): boolean {
  const slots = slotsOf(snapshot, row.index, row.activeOrdinal, row.running);
  return unit.pods.length === 0 && areProvedAbsent(snapshot, row.index, slots);
}

/** The source's row goes with its last pod, so that its index is not given away before. */
function complete(snapshot: Snapshot, unit: Unit, row: GangSourceRow, marker: GangMarkerRow, readySince: number): Step {
  if (isSourceGone(snapshot, unit, row)) {
    return {
      to: 'rows',
      rows: [updated(marker, row.op.target, readySince)],
      removed: [row.index],
      proved: row.op.target,
      events: [completed(snapshot, row)],
    };
  }
  if (unit.pods.length === 0) return needsProof(row.index, `the pods of Instance ${row.index} seem to be gone`);
  if (row.op.step === 'Surge') {
    return { to: 'row', row: { ...row, op: { ...row.op, step: 'SurgeDrain', lastProgressAt: snapshot.now } } };
  }
  return { to: 'wait', hold: draining(unit, row) };
}

function completed(snapshot: Snapshot, row: GangSourceRow) {
  return sayInstance(
    snapshot,
    'Normal',
    'RecreateUpdateCompleted',
    row.index,
    row.op.id,
    `runs revision ${row.op.target} as Instance ${row.op.surgeIndex}`,
  );
}

function drain(snapshot: Snapshot, unit: Unit, row: GangSourceRow): Step {
  if (snapshot.spec.pause !== 'running') {
    const where = `its replacement at index ${row.op.surgeIndex}`;
    return untilResumed(row.index, `Instance ${row.index} has ${where} and waits for the rollout to be resumed`);
  }
  const hold = draining(unit, row);
  if (row.op.step === 'SurgeDrain') return { to: 'wait', hold };
  return { to: 'row', row: { ...row, op: { ...row.op, step: 'SurgeDrain', lastProgressAt: snapshot.now } }, hold };
}

function draining(unit: Unit, row: GangSourceRow): Hold {
  return leaving(row.index, unit.pods, {
    drains: `the old pods of Instance ${row.index} leave rotation before they are deleted`,
    goes: `Instance ${row.index} is replaced by ${row.op.surgeIndex} when its old pods have ended`,
  });
}

function notServing(row: GangSourceRow, set: PodSet): Hold {
  const { surgeIndex } = row.op;
  const isDark = row.op.step === 'SurgeDrain' && !servesNow(set);
  const missing = set.slots.filter(({ occupant }) => occupant.is !== 'live').map(({ slot }) => slot.name);
  const lack =
    missing.length > 0
      ? `no live pod yet for ${missing.join(', ')}`
      : `not serving yet: ${set.live
          .filter((pod) => !pod.ready)
          .map((pod) => pod.name)
          .join(', ')}`;
  return {
    is: isDark ? 'ReplacementDark' : 'Starting',
    index: row.index,
    text: isDark
      ? `the replacement of Instance ${row.index} at index ${surgeIndex} stopped serving: the old pods are given their place in rotation back`
      : `the replacement of Instance ${row.index} comes up at index ${surgeIndex}: ${lack}`,
    wake: podsOrAt(surgeIndex, row.op.deadline),
  };
}

/**
 * A marker that no source claims: its source's row is lost. A replacement that was meant to stay is an Instance that is being
 * created; one that was to be removed is removed.
 */
export function isOrphanMarker(rows: ReadonlyMap<Index, InstanceRow>, row: InstanceRow): row is GangMarkerRow {
  return row.kind === 'gangTo' && sourceOf(rows, row) === undefined;
}
