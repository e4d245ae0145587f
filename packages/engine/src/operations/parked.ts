/**
 * A failed update whose own pods are still there is parked: the operation is kept, so that it is known what they are of, and
 * the phase follows what they do. A new attempt starts over it; pods that come right by themselves end it.
 */
import { type InPlaceOp, type InstanceRow, type ParkedOp, type RecreateOp, revisionHashOf } from '@omenative/api';
import { needsProof, onPods, type Step } from '../draft.js';
import { stuckContainers } from '../failure.js';
import { promotionOf, servesNow } from '../readiness.js';
import type { LadderVerdict } from '../retry.js';
import { sayInstance } from '../say.js';
import type { Snapshot } from '../snapshot.js';
import { areProvedAbsent, lifeSetOf, type PodSet, slotsOf, type Unit } from '../units.js';
import { rest } from './row.js';
import { updated } from './update.js';
import { progressOf } from './update-in-place.js';

export type ParkedRow = InstanceRow & { readonly kind: 'parked' };

export function parked(
  row: InstanceRow & { readonly op: InPlaceOp | RecreateOp },
  phase: ParkedRow['phase'],
): ParkedRow {
  const op: ParkedOp = { ...row.op, step: 'Parked' };
  const { deadline: _, ...unclocked } = op;
  return { ...rest(row), kind: 'parked', phase, op: unclocked };
}

/** The pods the attempt was about: those of the row's life, whichever of the two revisions they are of. */
export function parkedSetOf(snapshot: Snapshot, unit: Unit, row: ParkedRow): PodSet {
  return lifeSetOf(unit, slotsOf(snapshot, row.index, row.activeOrdinal, row.op.target), row.incarnation);
}

export function advanceParked(snapshot: Snapshot, unit: Unit, row: ParkedRow, next: LadderVerdict): Step {
  const set = parkedSetOf(snapshot, unit, row);
  if (set.live.length === 0) return abandoned(snapshot, unit, row);
  const promotion = promotionOf(set, snapshot.spec.minReadySeconds, snapshot.now);
  const isOfTarget = set.live.every((pod) => pod.revisionHash === revisionHashOf(row.op.target));
  const isDone = isOfTarget && progressOf(snapshot, unit, row).is === 'done';
  if (isDone && row.op.target === snapshot.target && promotion.is === 'now') {
    const text = `ready at revision ${row.op.target} after it had failed`;
    return {
      to: 'row',
      row: updated(row, row.op.target, promotion.readySince),
      proved: row.op.target,
      events: [sayInstance(snapshot, 'Normal', 'InstanceReady', row.index, `healed-${row.op.id}`, text)],
    };
  }
  const phase = servesNow(set) ? 'Updating' : servesNothing(snapshot, row, set) ? 'Failed' : row.phase;
  const waiting = next.is === 'open' ? row.op.waiting : next.is;
  const hold = {
    is: 'Failed',
    index: row.index,
    text: `Instance ${row.index} failed at revision ${row.op.target}: ${row.lastFailure?.reason ?? 'unknown'} ${
      row.lastFailure?.message ?? ''
    }. ${next.is === 'open' ? 'It is tried again when a budget allows' : next.text}`,
    wake: [
      { user: 'spec' },
      onPods(row.index),
      ...(promotion.is === 'later' ? [{ at: promotion.at }] : []),
      ...(next.is === 'RetryBlock' && next.at !== undefined ? [{ at: next.at }] : []),
    ],
  } as const;
  if (phase === row.phase && waiting === row.op.waiting) return { to: 'wait', hold };
  return { to: 'row', row: { ...row, phase, op: { ...row.op, waiting } }, hold };
}

/** No pod of it is in rotation, and what there is has been stuck or unready for longer than the grace. */
function servesNothing(snapshot: Snapshot, row: ParkedRow, set: PodSet): boolean {
  const grace = snapshot.config.stuckPodGraceSec ?? 0;
  const startedAt = row.op.startedAt ?? snapshot.now;
  const stuckLong = stuckContainers(set.live, startedAt).some(({ since }) => since + grace <= snapshot.now);
  const unreadyLong = set.live.every(
    (pod) => !pod.ready && (pod.readyChangedAt ?? pod.createdAt) + grace <= snapshot.now,
  );
  return stuckLong || unreadyLong;
}

/** Nothing is left of the attempt: the Instance is Failed without an operation, and is created again when it may. */
function abandoned(snapshot: Snapshot, unit: Unit, row: ParkedRow): Step {
  const slots = slotsOf(snapshot, row.index, row.activeOrdinal, row.op.target);
  if (unit.pods.length === 0 && !areProvedAbsent(snapshot, row.index, slots)) {
    return needsProof(row.index, `the pod of Instance ${row.index} seems to be gone`);
  }
  return { to: 'row', row: { ...rest(row), kind: 'failed', target: row.op.target } };
}
