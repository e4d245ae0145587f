/**
 * SurgeThenDrain of a single-pod Instance: the replacement takes the other pod-name slot and serves before the source
 * leaves rotation. The source is deleted only while the replacement serves; a target that moves on before then takes the
 * replacement with it.
 */
import { type InstanceRow, type Rev, revisionHashOf, type SurgeOp } from '@omenative/api';
import { booked } from '../bookings.js';
import { needsProof, onPods, podsOrAt, type Step } from '../draft.js';
import type { Hold } from '../hold.js';
import { isContainersReady, promotionOf, servesNow } from '../readiness.js';
import { sayInstance, unreadableGates } from '../say.js';
import type { PodView, Snapshot } from '../snapshot.js';
import {
  areProvedAbsent,
  isLive,
  isTerminating,
  type PodSet,
  podSetOf,
  type Slot,
  slotsOf,
  type Unit,
} from '../units.js';
import { recycleStep } from './recycle.js';
import { rest } from './row.js';
import { completed, newUpdate, updated } from './update.js';
import { staysReady, untilResumed } from './waits.js';

export type SurgingRow = InstanceRow & { readonly kind: 'updating' } & { readonly op: SurgeOp };

/** Both halves of a surge. */
export interface SurgePair {
  readonly sourceSlots: readonly Slot[];
  /** The source, whatever its state; absent when its name holds nothing. */
  readonly source: PodView | undefined;
  readonly replacementSlots: readonly Slot[];
  readonly replacement: PodSet;
}

export function isSurging(row: InstanceRow): row is SurgingRow {
  return row.kind === 'updating' && (row.op.step === 'Surge' || isDraining(row.op.step));
}

/** An older writer's `SurgeDrainSettle` says the same as `SurgeDrain`. */
export function isDraining(step: string): boolean {
  return step === 'SurgeDrain' || step === 'SurgeDrainSettle';
}

export function surgePairOf(snapshot: Snapshot, unit: Unit, row: SurgingRow): SurgePair {
  const sourceSlots = slotsOf(snapshot, row.index, row.activeOrdinal, row.running);
  const replacementSlots = slotsOf(snapshot, row.index, row.activeOrdinal === 0 ? 1 : 0, row.op.target);
  return {
    sourceSlots,
    source: unit.pods.find((pod) => pod.name === sourceSlots[0]?.name),
    replacementSlots,
    replacement: podSetOf(unit, replacementSlots, row.op.target, row.incarnation),
  };
}

/** The row that starts a surge to `target`; the caller has charged the budget. What is left in the slot is evicted first. */
export function openSurge(snapshot: Snapshot, unit: Unit, target: Rev): Step {
  const { row } = unit;
  const op: SurgeOp = { ...newUpdate(snapshot, row, target, 'SurgeThenDrain'), step: 'Surge' };
  const slots = slotsOf(snapshot, row.index, row.activeOrdinal === 0 ? 1 : 0, target);
  // One that came up after its attempt had ended is what this attempt is to make.
  const isMade = (pod: PodView): boolean => pod.containersReady && pod.revisionHash === revisionHashOf(target);
  const leftovers = unit.pods.filter(
    (pod) => isLive(pod) && !isMade(pod) && slots.some((slot) => slot.name === pod.name),
  );
  return {
    to: 'row',
    row: { ...rest(row), kind: 'updating', target, op, announced: booked(row, 'LeftoverEvicted', leftovers) },
    tries: target,
    events: [
      sayInstance(
        snapshot,
        'Normal',
        'RecreateUpdateStarted',
        row.index,
        op.id,
        `surge to revision ${target}: the new pod serves before the old one leaves rotation`,
      ),
    ],
  };
}

export function advanceSurge(snapshot: Snapshot, unit: Unit, row: SurgingRow): Step {
  const pair = surgePairOf(snapshot, unit, row);
  const draining = isDraining(row.op.step);
  if (isRetargeted(snapshot, row, pair)) return retarget(snapshot, unit, row, pair);
  const recycle = recycleStep(snapshot, unit, row, pair.replacement);
  if (recycle !== undefined) return recycle;
  const promotion = promotionOf(pair.replacement, draining ? 0 : snapshot.spec.minReadySeconds, snapshot.now);
  switch (promotion.is) {
    case 'never':
      return { to: 'wait', hold: notServing(row, pair) };
    case 'later':
      return staysReady(
        snapshot,
        row.index,
        `the replacement of Instance ${row.index} serves and must stay Ready`,
        promotion.at,
      );
    case 'now':
      return isSourceOut(pair)
        ? complete(snapshot, unit, row, pair, promotion.readySince)
        : drain(snapshot, row, pair, draining);
  }
}

/**
 * The target moved while the replacement can't serve, and the source still can: it is given up. What is derived here is
 * derived again by `demand`, which deletes it, so the two need no shared note.
 */
export function isRetargeted(snapshot: Snapshot, row: SurgingRow, pair: SurgePair): boolean {
  return (
    row.op.target !== snapshot.target &&
    snapshot.spec.pause === 'running' &&
    (row.op.step === 'Surge' || isIntact(pair)) &&
    !isContainersReady(pair.replacement)
  );
}

/** Nobody has asked for the source to go: what it was taken out of rotation for can be undone. */
function isIntact({ source }: SurgePair): boolean {
  return source !== undefined && isLive(source) && source.containersReady;
}

function retarget(snapshot: Snapshot, unit: Unit, row: SurgingRow, pair: SurgePair): Step {
  const occupied = unit.pods.some((pod) => pair.replacementSlots.some((slot) => slot.name === pod.name));
  if (occupied) {
    return {
      to: 'wait',
      hold: {
        is: 'PodsTerminating',
        index: row.index,
        text: `the replacement of Instance ${row.index} at ${row.op.target} is removed: the target is now ${snapshot.target}`,
        wake: [onPods(row.index)],
      },
    };
  }
  if (!areProvedAbsent(snapshot, row.index, pair.replacementSlots)) {
    return needsProof(row.index, `the replacement of Instance ${row.index} seems to be gone`);
  }
  return { to: 'row', row: backToRunning(row) };
}

/** The Instance on the revision it never left. */
export function backToRunning(row: SurgingRow): InstanceRow {
  return { ...rest(row), kind: 'ready', target: '' };
}

/** Nothing of the source serves or will serve: its deletion has been asked for, or its name is proved empty. */
function isSourceOut(pair: SurgePair): boolean {
  return pair.source === undefined || isTerminating(pair.source);
}

function complete(snapshot: Snapshot, unit: Unit, row: SurgingRow, pair: SurgePair, readySince: number): Step {
  if (pair.source === undefined && !areProvedAbsent(snapshot, unit.index, pair.sourceSlots)) {
    return needsProof(row.index, `the old pod of Instance ${row.index} seems to be gone`);
  }
  const next: InstanceRow = {
    ...updated(row, row.op.target, readySince),
    activeOrdinal: row.activeOrdinal === 0 ? 1 : 0,
  };
  return completed(snapshot, row, next, 'RecreateUpdateCompleted');
}

function drain(snapshot: Snapshot, row: SurgingRow, pair: SurgePair, draining: boolean): Step {
  const unreadable = unreadableGates(pair.source === undefined ? [] : [pair.source]);
  const hold: Hold = {
    is: unreadable === '' ? 'Draining' : 'GateUnreadable',
    index: row.index,
    text: `the old pod ${pair.source?.name ?? ''} of Instance ${row.index} leaves rotation before it is deleted${unreadable}`,
    wake: [onPods(row.index), { on: 'slice', key: String(row.index) }],
  };
  if (draining) return { to: 'wait', hold };
  if (snapshot.spec.pause !== 'running') {
    const text = `Instance ${row.index} has its replacement and waits for the rollout to be resumed`;
    return untilResumed(row.index, text);
  }
  return { to: 'row', row: { ...row, op: { ...row.op, step: 'SurgeDrain', lastProgressAt: snapshot.now } }, hold };
}

function notServing(row: SurgingRow, pair: SurgePair): Hold {
  const name = pair.replacementSlots[0]?.name ?? '';
  if (isDraining(row.op.step) && !servesNow(pair.replacement)) {
    return {
      is: 'ReplacementDark',
      index: row.index,
      text: `replacement ${name} of Instance ${row.index} stopped serving: the old pod is given its place in rotation back`,
      wake: podsOrAt(row.index, row.op.deadline),
    };
  }
  return {
    is: 'Starting',
    index: row.index,
    text: `replacement ${name} of Instance ${row.index} does not serve yet`,
    wake: podsOrAt(row.index, row.op.deadline),
  };
}
