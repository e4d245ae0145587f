/** What the rows ask of their pods, one function per state of a row. Derived from rows and world alone. */
import type { InstanceRow } from '@omenative/api';
import type { Chain, Effect } from '../effects.js';
import type { Hold } from '../hold.js';
import { type CreatingRow, createSet } from '../operations/create.js';
import { type DeletingRow, isDrainOverdue } from '../operations/delete.js';
import { isRecycleBooked } from '../operations/recycle.js';
import { restingRevision, restingSet } from '../operations/resting.js';
import { isDraining, isRetargeted, type SurgingRow, surgePairOf } from '../operations/update-surge.js';
import { isContainersReady, servesNow } from '../readiness.js';
import type { PodView, Snapshot } from '../snapshot.js';
import { isGang, isOf, isTerminal, isTerminating, type PodSet, type Unit } from '../units.js';
import { coverOf, createMissing, deleteEnded, deleteNow, deletion, type Removal, remove } from './pods.js';
import { deleteDrainHold, route, surgeDrainHold } from './writers.js';

export interface Demand {
  readonly chains: readonly Chain[];
  readonly holds: readonly Hold[];
}

const nothing: Demand = { chains: [], holds: [] };

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
  if (rev === '') return nothing;
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
      chain('delete', ended.effects),
      creates(made.effects),
      chain('route', isContainersReady(set) ? routeAll(set, covers) : []),
    ],
    [...ended.holds, ...made.holds],
  );
}

/**
 * Whether lost pods of a resting Instance are replaced without an operation: the members of a gang that is not all lost,
 * and the pods of an Instance that failed after it had run. A pause leaves policy None as it is; a freeze leaves all.
 */
function mayRefill(snapshot: Snapshot, row: InstanceRow, set: PodSet): boolean {
  const { pause, restartPolicy } = snapshot.spec;
  if (pause === 'freeze' || (pause === 'recover' && restartPolicy === 'None')) return false;
  if (row.kind === 'failed') return row.running !== '';
  return row.kind === 'ready' && isGang(snapshot) && set.live.length > 0;
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
    if (row.running !== snapshot.target && isOf(pod, snapshot.target)) return false;
    return names.has(pod.name) ? !isTerminal(pod) : row.kind !== 'failed';
  });
}

const nothingMade = { effects: [], holds: [] };

/** Ended pods whose recycling is booked on the row. */
function recycled(row: InstanceRow, set: PodSet): readonly Effect[] {
  return set.slots.flatMap(({ occupant }) =>
    occupant.is === 'terminal' && isRecycleBooked(row, occupant.pod) ? deleteNow(occupant.pod, coverOf(row)) : [],
  );
}

/** Workers first and the leader last, so that a gang takes requests only when all of it is in. */
function routeAll(set: PodSet, covers: Parameters<typeof route>[1]): readonly Effect[] {
  return set.live
    .toSorted((a, b) => Number(a.runner === 'leader') - Number(b.runner === 'leader'))
    .flatMap((pod) => route(pod, covers));
}

/** Nothing is deleted before all of the group is out of rotation. */
function removals(group: readonly Removal[]): readonly (Chain | undefined)[] {
  const allOut = group.every((removal) => removal.isOut);
  return [
    chain(
      'unroute',
      group.flatMap((removal) => removal.out),
    ),
    ...(allOut ? group.flatMap((removal) => removal.gone.map((effect) => chain('delete', [effect]))) : []),
  ];
}

/** One chain a unit: what can't be completed is not begun, and a refusal for the whole namespace stops the lane. */
function creates(effects: readonly Effect[]): Chain | undefined {
  if (effects.length === 0) return undefined;
  return { lane: 'create', effects, stopLaneOn: ['quota', 'throttled', 'namespaceTerminating'] };
}

function chain(lane: Chain['lane'], effects: readonly Effect[]): Chain | undefined {
  return effects.length === 0 ? undefined : { lane, effects, stopLaneOn: ['throttled'] };
}

function joined(chains: readonly (Chain | undefined)[], holds: readonly Hold[]): Demand {
  return { chains: chains.filter((item): item is Chain => item !== undefined), holds };
}
