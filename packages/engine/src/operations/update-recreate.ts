/**
 * RecreatePod: the pods of an Instance leave rotation, go, and come back under the same names at the next incarnation, made
 * from the target. No new pod is made before every old one is proved gone: never pods of two revisions in one gang.
 */
import type { InstanceRow, RecreateOp, Rev } from '@omenative/api';
import { needsProof, onPods, podsOrAt, type Step } from '../draft.js';
import type { EventIntent } from '../effects.js';
import { isContainersReady, promotionOf } from '../readiness.js';
import { sayInstance } from '../say.js';
import type { PodView, Snapshot } from '../snapshot.js';
import { areProvedAbsent, type PodSet, podSetOf, type Slot, slotsOf, type Unit } from '../units.js';
import { recycleStep } from './recycle.js';
import { rest } from './row.js';
import { completed, newUpdate, updated } from './update.js';
import { leaving, mayReopen, reopensNextSecond, staysReady } from './waits.js';

export type RecreatingRow = InstanceRow & { readonly kind: 'updating' } & { readonly op: RecreateOp };

export function isRecreating(row: InstanceRow): row is RecreatingRow {
  return row.kind === 'updating' && row.op.step === 'Drain';
}

/** What a recreate deals with. */
export interface RecreateSets {
  /** Pods of an earlier life, dying ones included. */
  readonly old: readonly PodView[];
  /** Pods that don't say which life they belong to: nobody may delete them but the user. */
  readonly orphans: readonly PodView[];
  /** The new life. */
  readonly set: PodSet;
  /** Every name that either life uses. */
  readonly names: readonly Slot[];
}

export function recreateSetsOf(snapshot: Snapshot, unit: Unit, row: RecreatingRow): RecreateSets {
  const slots = slotsOf(snapshot, row.index, row.activeOrdinal, row.op.target);
  const set = podSetOf(unit, slots, row.op.target, row.incarnation);
  const ours = new Set(set.slots.flatMap(({ occupant }) => ('pod' in occupant ? [occupant.pod] : [])));
  const isOfNewLife = (pod: PodView): boolean => ours.has(pod) && pod.incarnation === row.incarnation;
  const others = unit.pods.filter((pod) => !isOfNewLife(pod));
  const oldSlots = slotsOf(snapshot, row.index, row.activeOrdinal, row.running);
  return {
    old: others.filter((pod) => pod.incarnation !== undefined),
    orphans: others.filter((pod) => pod.incarnation === undefined),
    set,
    names: [...slots, ...oldSlots.filter((old) => !slots.some((slot) => slot.name === old.name))],
  };
}

/** Every old pod is known to be gone, so the new life may begin. */
export function isCleared(snapshot: Snapshot, row: RecreatingRow, sets: RecreateSets): boolean {
  if (sets.old.length > 0 || sets.orphans.length > 0) return false;
  const present = new Set(
    sets.set.slots.flatMap(({ slot, occupant }) => (occupant.is === 'missing' ? [] : [slot.name])),
  );
  return areProvedAbsent(
    snapshot,
    row.index,
    sets.names.filter((slot) => !present.has(slot.name)),
  );
}

/** The row that starts a recreate to `target`; the caller has charged the budget. */
export function openRecreate(snapshot: Snapshot, row: InstanceRow, target: Rev, retryCount = 0): Step {
  const op: RecreateOp = { ...newUpdate(snapshot, row, target, 'RecreatePod'), step: 'Drain', retryCount };
  return {
    to: 'row',
    row: { ...rest(row), kind: 'updating', incarnation: Math.max(1, row.incarnation) + 1, target, op },
    tries: target,
    events: [started(snapshot, row, op)],
  };
}

function started(snapshot: Snapshot, row: InstanceRow, op: RecreateOp): EventIntent {
  const text = `its pods are deleted and created again at revision ${op.target}`;
  return sayInstance(snapshot, 'Normal', 'RecreateUpdateStarted', row.index, op.id, text);
}

export function advanceRecreate(snapshot: Snapshot, unit: Unit, row: RecreatingRow): Step {
  const { spec, now, target } = snapshot;
  const sets = recreateSetsOf(snapshot, unit, row);
  if (row.op.target !== target && spec.pause === 'running' && !isContainersReady(sets.set)) {
    return mayReopen(row.op, now)
      ? openRecreate(snapshot, row, target)
      : reopensNextSecond(snapshot, row.index, target);
  }
  if (sets.old.length > 0 || sets.orphans.length > 0) return clearing(snapshot, row, sets);
  if (!isCleared(snapshot, row, sets)) {
    return needsProof(row.index, `the pods of Instance ${row.index} seem to be gone`);
  }
  const recycle = recycleStep(snapshot, unit, row, sets.set);
  if (recycle !== undefined) return recycle;
  const promotion = promotionOf(sets.set, spec.minReadySeconds, now);
  switch (promotion.is) {
    case 'now':
      return completed(snapshot, row, updated(row, row.op.target, promotion.readySince), 'RecreateUpdateCompleted');
    case 'later':
      return staysReady(
        snapshot,
        row.index,
        `the new pods of Instance ${row.index} serve and must stay Ready`,
        promotion.at,
      );
    case 'never':
      return {
        to: 'wait',
        hold: {
          is: 'Starting',
          index: row.index,
          text: `Instance ${row.index} is created again at ${row.op.target}: ${lackOf(sets.set)}`,
          wake: podsOrAt(row.index, row.op.deadline),
        },
      };
  }
}

function lackOf(set: PodSet): string {
  const missing = set.slots.filter(({ occupant }) => occupant.is !== 'live').map(({ slot }) => slot.name);
  if (missing.length > 0) return `no live pod yet for ${missing.join(', ')}`;
  const unready = set.live.filter((pod) => !pod.ready).map((pod) => pod.name);
  return `${unready.join(', ')} not Ready yet`;
}

/** The old pods are on their way out, or one of them can't be told from the new ones. */
function clearing(snapshot: Snapshot, row: RecreatingRow, sets: RecreateSets): Step {
  const orphan = sets.orphans[0];
  if (orphan !== undefined) {
    const text = `pod ${orphan.name} has no ome.io/instance-incarnation label, so nobody knows which life of Instance ${row.index} it belongs to; label or delete it`;
    const announcement = `FoundOrphan@${orphan.uid}`;
    const hold = { is: 'Orphan', index: row.index, text, wake: [onPods(row.index)] } as const;
    if (row.announced.includes(announcement)) return { to: 'wait', hold };
    return {
      to: 'row',
      row: { ...row, announced: [...row.announced, announcement] },
      hold,
      events: [sayInstance(snapshot, 'Warning', 'FoundOrphan', row.index, orphan.uid, text)],
    };
  }
  const hold = leaving(
    row.index,
    sets.old,
    {
      drains: `the old pods of Instance ${row.index} leave rotation before they are deleted`,
      goes: `Instance ${row.index} is created again when its old pods have ended`,
    },
    row.op.deadline,
  );
  return { to: 'wait', hold };
}
