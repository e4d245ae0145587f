/** What Instances ask for that are created, at rest, replaced pod by pod, or deleted. Derived from rows and world alone. */
import type { InstanceRow } from '@omenative/api';
import { isBooked } from '../bookings.js';
import { type CreatingRow, createSet } from '../operations/create.js';
import { type DeletingRow, isDrainOverdue } from '../operations/delete.js';
import type { ParkedRow } from '../operations/parked.js';
import { parkedSetOf } from '../operations/parked.js';
import { type FailedRow, restingRevision, restingSet } from '../operations/resting.js';
import { progressOf } from '../operations/update-in-place.js';
import { isDraining, isRetargeted, type SurgingRow, surgePairOf } from '../operations/update-surge.js';
import { isContainersReady, servesNow } from '../readiness.js';
import type { PodView, Snapshot } from '../snapshot.js';
import { isGang, isOf, isTerminal, isTerminating, type PodSet, type Unit } from '../units.js';
import { chain, creates, type Demand, joined, nothingMade, recycled, removals, routeAll } from './chains.js';
import { coverOf, createMissing, deleteEnded, deletion, remove } from './pods.js';
import { deleteDrainHold, dropMarker, route, surgeDrainHold } from './writers.js';

/** The attempt's pods: what is in the way goes, what is missing comes, and all enter rotation together. */
export function demandOfCreate(snapshot: Snapshot, unit: Unit, row: CreatingRow): Demand {
  const covers = coverOf(row);
  const set = createSet(snapshot, unit, row);
  const ended = new Set(set.slots.flatMap(({ occupant }) => (occupant.is === 'terminal' ? [occupant.pod] : [])));
  const inTheWay = unit.pods.filter((pod) => !set.live.includes(pod) && !ended.has(pod));
  const wreckage = inTheWay.map((pod) => remove(snapshot, pod, deleteDrainHold(row.index), covers));
  const made = createMissing(snapshot, row, set, row.op.target, covers);
  return joined(
    [
      ...removals(wreckage),
      chain('delete', recycled(row, set)),
      creates(made.effects),
      chain('route', isContainersReady(set) ? routeAll(set, covers) : []),
    ],
    made.holds,
  );
}

/** The replacement comes, the source goes once the replacement serves; and back again when it stops. */
export function demandOfSurge(snapshot: Snapshot, unit: Unit, row: SurgingRow): Demand {
  const covers = coverOf(row);
  const pair = surgePairOf(snapshot, unit, row);
  const hold = surgeDrainHold(row.index, row.activeOrdinal === 0 ? 1 : 0);
  const { source, replacement } = pair;
  const grace = snapshot.config.abandonedReplacementGraceSec;
  const given = isRetargeted(snapshot, row, pair);
  const standing = replacement.slots.flatMap(({ occupant }) =>
    occupant.is === 'stale' || (given && (occupant.is === 'live' || occupant.is === 'terminal')) ? [occupant.pod] : [],
  );
  const abandoned = standing.map((pod) =>
    remove(snapshot, pod, deleteDrainHold(row.index), covers, pod.gate.state === 'absent' ? grace : undefined),
  );
  const made = given ? nothingMade : createMissing(snapshot, row, replacement, row.op.target, covers);
  const leaves = isDraining(row.op.step) && servesNow(replacement);
  const leaving = source !== undefined && leaves ? [remove(snapshot, source, hold, covers)] : [];
  const returning = source === undefined || leaves || isTerminating(source) ? [] : route(source, covers);
  return joined(
    [
      ...removals([...abandoned, ...leaving]),
      chain('delete', given ? [] : recycled(row, replacement)),
      creates(made.effects),
      chain('route', !given && isContainersReady(replacement) ? routeAll(replacement, covers) : []),
      chain('route', returning),
    ],
    made.holds,
  );
}

/** All pods leave rotation before the first is deleted; past the deadline they are deleted anyway. */
export function demandOfDelete(snapshot: Snapshot, unit: Unit, row: DeletingRow): Demand {
  const covers = coverOf(row);
  if (isDrainOverdue(snapshot, row)) {
    const left = unit.pods.filter((pod) => !isTerminating(pod));
    return joined(
      [
        chain(
          'delete',
          left.map((pod) => deletion(pod, covers, 'none', undefined)),
        ),
      ],
      [],
    );
  }
  const leaderFirst = unit.pods.toSorted((a, b) => Number(b.runner === 'leader') - Number(a.runner === 'leader'));
  const going = leaderFirst.map((pod) => remove(snapshot, pod, deleteDrainHold(row.index), covers));
  return joined(removals(going), []);
}

/** A resting Instance: a gang's lost member is filled in, a pod that belongs to no life of it goes. */
export function demandOfResting(snapshot: Snapshot, unit: Unit, row: InstanceRow): Demand {
  const rev = restingRevision(row);
  if (rev === '') return joined(resets(snapshot, unit), []);
  const covers = coverOf(row);
  const set = restingSet(snapshot, unit, row);
  const aliens = aliensOf(snapshot, unit, row, set).map((pod) =>
    remove(snapshot, pod, deleteDrainHold(row.index), { by: 'rule', rule: 'alien' }),
  );
  const refills = mayRefill(snapshot, row, set);
  const made = refills ? createMissing(snapshot, row, set, rev, covers) : nothingMade;
  const ended = refills ? deleteEnded(snapshot, row, set, covers) : nothingMade;
  return joined(
    [
      ...removals(aliens),
      ...resets(snapshot, unit),
      chain('delete', ended.effects),
      chain('misc', row.kind === 'ready' ? set.live.flatMap(dropMarker) : []),
      creates(made.effects),
      chain('route', isContainersReady(set) ? routeAll(set, covers) : []),
    ],
    [...ended.holds, ...made.holds],
  );
}

/** A user wants these pods of a Failed Instance gone; the Instance is created again once they are. */
function resets(snapshot: Snapshot, unit: Unit): ReturnType<typeof removals> {
  const pods = unit.pods.filter((pod) => isBooked(unit.row, pod, 'InstanceReset'));
  return removals(pods.map((pod) => remove(snapshot, pod, deleteDrainHold(unit.index), { by: 'rule', rule: 'reset' })));
}

/** A failed update that keeps its operation: its pods stay for inspection, and enter rotation when they come right. */
export function demandOfFailedKeeping(snapshot: Snapshot, unit: Unit, row: FailedRow | ParkedRow): Demand {
  const covers = coverOf(row);
  const set = row.kind === 'parked' ? parkedSetOf(snapshot, unit, row) : restingSet(snapshot, unit, row);
  // What has been patched and not confirmed may run either image.
  const isKnown = row.kind !== 'parked' || progressOf(snapshot, unit, row).is !== 'unconfirmed';
  return joined(
    [...resets(snapshot, unit), chain('route', isKnown && isContainersReady(set) ? routeAll(set, covers) : [])],
    [],
  );
}

/**
 * Whether lost pods of a resting Instance are replaced without an operation: the members of a gang that is not all lost. A pause leaves policy None as it is; a freeze leaves all.
 */
function mayRefill(snapshot: Snapshot, row: InstanceRow, set: PodSet): boolean {
  const { pause, restartPolicy } = snapshot.spec;
  if (pause === 'freeze' || (pause === 'recover' && restartPolicy === 'None')) return false;
  const isPartial = set.live.length > 0 && !set.live.some((pod) => isBooked(row, pod));
  if (row.kind === 'failed') return row.running !== '' && isPartial;
  return row.kind === 'ready' && isGang(snapshot) && isPartial;
}

/**
 * Pods that belong to no life of the Instance. Nobody can tell for a row that runs no known revision, or for a pod that names
 * none. What an update to the target has made or would make is the update's to take over, one Instance at a time; and while
 * the row is Failed, what the failed attempt left beside it is kept for inspection.
 */
function aliensOf(snapshot: Snapshot, unit: Unit, row: InstanceRow, set: PodSet): readonly PodView[] {
  if (row.kind === 'pending' || row.running === '') return [];
  const names = new Set(set.slots.map(({ slot }) => slot.name));
  return unit.pods.filter((pod) => {
    if (isTerminating(pod) || set.live.includes(pod) || pod.revisionHash === '') return false;
    // It goes already, because a user wants it to.
    if (isBooked(row, pod, 'InstanceReset')) return false;
    if (row.running !== snapshot.target && isOf(pod, snapshot.target)) return false;
    return names.has(pod.name) ? !isTerminal(pod) : row.kind !== 'failed';
  });
}
