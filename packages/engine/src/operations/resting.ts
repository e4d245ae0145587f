/**
 * Resting rows: Ready, Pending and Failed. What they lack opens an operation or, in a gang that lost a member, is filled in
 * by `demand`; what they have and did not before heals them.
 */
import type { InstanceRow, Rev } from '@omenative/api';
import { isBooked } from '../bookings.js';
import { needsProof, onPods, type Step } from '../draft.js';
import { isContainersReady, promotionOf } from '../readiness.js';
import { sayInstance } from '../say.js';
import type { Snapshot } from '../snapshot.js';
import { areProvedAbsent, type PodSet, podSetOf, slotsOf, type Unit } from '../units.js';
import { rest } from './row.js';

export type ReadyRow = InstanceRow & { readonly kind: 'ready' };
export type FailedRow = InstanceRow & { readonly kind: 'failed' };

/** The pods of the life that a resting row describes. A Failed row that never ran has those of its target. */
export function restingSet(snapshot: Snapshot, unit: Unit, row: InstanceRow): PodSet {
  const rev = restingRevision(row);
  return podSetOf(unit, slotsOf(snapshot, row.index, row.activeOrdinal, rev), rev, row.incarnation);
}

/** A recreate that failed has left the revision it ran: what it made is what the Instance has. */
export function restingRevision(row: InstanceRow): Rev | '' {
  if (row.kind === 'failed' && row.kept?.type === 'Update' && row.kept.step === 'Drain') return row.kept.target;
  return row.running !== '' ? row.running : row.target;
}

/** None of the pods that a Failed Instance should have is there, and none that stands in their place: it can be created. */
export function isEmpty(snapshot: Snapshot, unit: Unit, row: InstanceRow): boolean {
  return restingSet(snapshot, unit, row).slots.every(({ occupant }) => occupant.is === 'missing');
}

/**
 * A Ready Instance without any pod is demoted: its next life is a recorded Create, so that the loss of every pod is never
 * repaired behind the user's back. Losing all needs proof; an ended pod is proof of itself.
 */
export function advanceReady(snapshot: Snapshot, unit: Unit, row: ReadyRow): Step {
  const running = row.running === '' ? revisionOfPods(snapshot, unit, row) : undefined;
  if (running !== undefined) return { to: 'row', row: { ...row, running, target: '' } };
  const set = restingSet(snapshot, unit, row);
  if (set.slots.some(({ occupant }) => occupant.is === 'live' || occupant.is === 'stale')) return { to: 'rest' };
  const absent = set.slots.filter(({ occupant }) => occupant.is === 'missing').map(({ slot }) => slot);
  if (!areProvedAbsent(snapshot, row.index, absent)) {
    return needsProof(row.index, `the pods of Instance ${row.index} seem to be gone`);
  }
  return {
    to: 'row',
    row: { ...rest(row), kind: 'pending' },
    events: [
      sayInstance(
        snapshot,
        'Warning',
        'InstanceDemoted',
        row.index,
        `ready-${row.readySince ?? 0}`,
        'no live pods back the Ready phase; it is created again',
      ),
    ],
  };
}

/**
 * What a Ready row that another writer left without a revision runs: the revision that its pods say, when all of them are
 * ready and agree. Without it an Instance that is on the target already would be rolled to it.
 */
function revisionOfPods(snapshot: Snapshot, unit: Unit, row: ReadyRow): Rev | undefined {
  return [...snapshot.revisions].find(([rev, stored]) => {
    if (stored === 'gone') return false;
    const set = podSetOf(unit, slotsOf(snapshot, row.index, row.activeOrdinal, rev), rev, row.incarnation);
    return isContainersReady(set) && set.live.every((pod) => pod.revisionHash === stored.hash);
  })?.[0];
}

/**
 * A Failed Instance heals by itself: when the pods it has become ready, it is Ready on their revision. A replacement that
 * becomes ready late does not un-fail the source: only the row's own slot counts.
 */
export function advanceFailed(snapshot: Snapshot, unit: Unit, row: FailedRow): Step {
  const set = restingSet(snapshot, unit, row);
  const rev = restingRevision(row);
  const promotion = promotionOf(set, snapshot.spec.minReadySeconds, snapshot.now);
  const mayHeal =
    rev !== '' && (rev === snapshot.target || row.running === '') && !set.live.some((pod) => isBooked(row, pod));
  if (mayHeal && promotion.is === 'now') {
    return {
      to: 'row',
      row: { ...rest(row), kind: 'ready', running: rev, target: '', readySince: promotion.readySince },
      proved: rev,
      events: [
        sayInstance(
          snapshot,
          'Normal',
          'InstanceReady',
          row.index,
          `healed-${promotion.readySince}`,
          `ready at revision ${rev} after it had failed`,
        ),
      ],
    };
  }
  return {
    to: 'wait',
    hold: {
      is: 'Failed',
      index: row.index,
      text:
        row.target === ''
          ? `Instance ${row.index} has been reset and is created again once its pods are gone and a revision may be tried`
          : `Instance ${row.index} failed at revision ${row.target}: ${row.lastFailure?.reason ?? 'unknown'} ${
              row.lastFailure?.message ?? ''
            }. Publish a corrected revision; its pods are kept for inspection`,
      wake: [
        { user: 'spec' },
        onPods(row.index),
        ...(mayHeal && promotion.is === 'later' ? [{ at: promotion.at }] : []),
      ],
    },
  };
}
