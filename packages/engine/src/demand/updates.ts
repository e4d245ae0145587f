/** What Instances ask for that are updated as a whole: created again, changed in place, or replaced by another gang. */
import type { Index, InstanceRow } from '@omenative/api';
import { label, revisionHashOf } from '@omenative/api';
import type { Cover, PatchInPlace } from '../effects.js';
import { keyOfPatch } from '../keys.js';
import {
  type GangSourceRow,
  markerOf,
  replacementOf,
  replacementUnit,
  sourceSetOf,
} from '../operations/update-gang-surge.js';
import { type InPlaceRow, inPlaceSetOf, isSettled, progressOf } from '../operations/update-in-place.js';
import { isCleared, type RecreatingRow, recreateSetsOf } from '../operations/update-recreate.js';
import { isContainersReady, servesNow } from '../readiness.js';
import type { InPlaceMarker, PodView, Snapshot } from '../snapshot.js';
import { isTerminating, type PodSet, type Unit } from '../units.js';
import { chain, creates, type Demand, joined, nothing, nothingMade, recycled, removals, routeAll } from './chains.js';
import { coverOf, createMissing, isDrained, refusal, remove } from './pods.js';
import { deleteDrainHold, gangDrainHold, inPlaceHold, recreateDrainHold, refOf, route, unroute } from './writers.js';

/** The old pods leave rotation and go, all before the first new one comes. */
export function demandOfRecreate(snapshot: Snapshot, unit: Unit, row: RecreatingRow): Demand {
  const covers = coverOf(row);
  const sets = recreateSetsOf(snapshot, unit, row);
  // While one pod can't be told from the new life, nothing is taken down: it could not be made whole again.
  if (sets.orphans.length > 0) return nothing;
  const hold = recreateDrainHold(row.index, row.incarnation);
  const going = leaderFirst(sets.old).map((pod) => remove(snapshot, pod, hold, covers));
  const made = isCleared(snapshot, row, sets)
    ? createMissing(snapshot, row, sets.set, row.op.target, covers)
    : nothingMade;
  return joined(
    [
      ...removals(going),
      chain('delete', recycled(row, sets.set)),
      creates(made.effects),
      chain('route', isContainersReady(sets.set) ? routeAll(sets.set, covers) : []),
    ],
    made.holds,
  );
}

function leaderFirst(pods: readonly PodView[]): readonly PodView[] {
  return pods.toSorted((a, b) => Number(b.runner === 'leader') - Number(a.runner === 'leader'));
}

/** Out of rotation, patched, and in again once the kubelet runs what was asked for. */
export function demandOfInPlace(snapshot: Snapshot, unit: Unit, row: InPlaceRow): Demand {
  const covers = coverOf(row);
  const progress = progressOf(snapshot, unit, row);
  const hold = inPlaceHold(row.index, row.incarnation);
  switch (progress.is) {
    case 'lost':
    case 'impossible':
    case 'unconfirmed':
      return nothing;
    case 'patch': {
      const { pod, images, diff } = progress;
      const leaves = snapshot.spec.update.inPlace === 'markNotReady';
      if (leaves && !isDrained(snapshot, pod, hold)) return joined([chain('unroute', unroute(pod, hold, covers))], []);
      const marker: InPlaceMarker = { targetImages: images, restartCounts: baselineOf(pod, images) };
      // A pod that stays in rotation changes its Service, which its label decides, only when it runs the new image.
      const labels = leaves ? labelsOf(snapshot, row, diff.pairingProtocol) : {};
      return patched(snapshot, row, pod, { images, marker, labels, annotations: diff.annotations });
    }
    case 'label': {
      const { pod, diff } = progress;
      const labels = labelsOf(snapshot, row, diff.pairingProtocol);
      return patched(snapshot, row, pod, { images: {}, labels, annotations: diff.annotations });
    }
    case 'done': {
      const set = inPlaceSetOf(snapshot, unit, row);
      return joined([chain('route', isContainersReady(set) ? routeAll(set, covers) : [])], []);
    }
  }
}

/** One patch; one that was refused is tried again after a pause, and says so. */
function patched(
  snapshot: Snapshot,
  row: InPlaceRow,
  pod: PodView,
  change: Pick<PatchInPlace, 'images' | 'marker' | 'labels' | 'annotations'>,
): Demand {
  const key = keyOfPatch(pod.name, pod.uid, row.op.id);
  const refused = refusal(snapshot, row.index, pod.name, snapshot.inbox.get(key));
  if (refused !== undefined) return joined([], [refused]);
  const effect: PatchInPlace = { do: 'patchInPlace', key, covers: coverOf(row), pod: refOf(pod), ...change };
  return joined([chain('misc', [effect])], []);
}

/**
 * How often the containers had restarted. The count proves nothing of one that may restart for another reason: it isn't
 * ready, or an earlier change is still on its way to it.
 */
function baselineOf(pod: PodView, images: Readonly<Record<string, string>>): Readonly<Record<string, number>> {
  return Object.fromEntries(
    pod.containers
      .filter((one) => one.name in images && isSettled(pod, one))
      .map((one) => [one.name, one.restartCount]),
  );
}

function labelsOf(
  snapshot: Snapshot,
  row: InPlaceRow,
  pairingProtocol: string,
): Readonly<Record<string, string | null>> {
  const isPaired = snapshot.spec.component !== 'router';
  return {
    [label.revisionHash]: revisionHashOf(row.op.target),
    ...(isPaired ? { [label.pairingProtocol]: pairingProtocol === '' ? null : pairingProtocol } : {}),
  };
}

/** The new gang comes up at its index; the old one goes once the new one serves, and comes back while it stops serving. */
export function demandOfGangSurge(
  snapshot: Snapshot,
  rows: ReadonlyMap<Index, InstanceRow>,
  unit: Unit,
  row: GangSourceRow,
): Demand {
  const marker = markerOf(rows, row);
  const drains = row.op.step === 'SurgeDrain';
  switch (marker.is) {
    case 'missing':
    case 'occupied':
    case 'promoted':
      return nothing;
    case 'bound': {
      const covers: Cover = { by: 'operation', index: row.op.surgeIndex, id: marker.row.op.id };
      const set = replacementOf(snapshot, row);
      if (marker.row.op.step === 'GangSurgeTargetCleanup') {
        const abandoned = abandonedDemand(snapshot, row, covers);
        return merged(abandoned, sourceDemand(snapshot, unit, row, 'stays'));
      }
      return merged(
        replacementDemand(snapshot, row, set, covers),
        sourceDemand(snapshot, unit, row, drains && servesNow(set) ? 'leaves' : 'stays'),
      );
    }
  }
}

function replacementDemand(snapshot: Snapshot, row: GangSourceRow, set: PodSet, covers: Cover): Demand {
  const { pods } = replacementUnit(snapshot, row);
  const ours = new Set(
    set.slots.flatMap(({ occupant }) => ('pod' in occupant && occupant.is !== 'stale' ? [occupant.pod] : [])),
  );
  const wreckage = pods
    .filter((pod) => !ours.has(pod))
    .map((pod) => remove(snapshot, pod, deleteDrainHold(row.op.surgeIndex), covers));
  const at = { index: row.op.surgeIndex, incarnation: 1 };
  const made = row.phase === 'Failed' ? nothingMade : createMissing(snapshot, at, set, row.op.target, covers);
  return joined(
    [
      ...removals(wreckage),
      chain('delete', recycled(row, set, covers)),
      creates(made.effects),
      chain('route', isContainersReady(set) ? routeAll(set, covers) : []),
    ],
    made.holds,
  );
}

/** Pods of a replacement that is given up; those that never served need no long farewell. */
function abandonedDemand(snapshot: Snapshot, row: GangSourceRow, covers: Cover): Demand {
  const { pods } = replacementUnit(snapshot, row);
  const grace = snapshot.config.abandonedReplacementGraceSec;
  const going = leaderFirst(pods).map((pod) =>
    remove(snapshot, pod, deleteDrainHold(row.op.surgeIndex), covers, pod.gate.state === 'absent' ? grace : undefined),
  );
  return joined(removals(going), []);
}

/** A paused rollout stops where it is, in the middle of a drain too. */
function sourceDemand(snapshot: Snapshot, unit: Unit, row: GangSourceRow, wish: 'leaves' | 'stays'): Demand {
  const covers = coverOf(row);
  if (wish === 'leaves') {
    if (snapshot.spec.pause !== 'running') return nothing;
    const going = leaderFirst(unit.pods).map((pod) => remove(snapshot, pod, gangDrainHold(row.index), covers));
    return joined(removals(going), []);
  }
  const set = sourceSetOf(snapshot, unit, row);
  const isLeft = unit.pods.some(isTerminating);
  const made =
    isLeft || set.live.length === 0 || row.op.step !== 'Surge' ? nothingMade : refill(snapshot, row, set, covers);
  const back = isContainersReady(set)
    ? routeAll(set, covers)
    : set.live.flatMap((pod) => (pod.gate.state === 'false' && !isLeft ? route(pod, covers) : []));
  return joined([creates(made.effects), chain('route', back)], made.holds);
}

/** A member that the old gang lost is filled in as if no update were under way: the old gang is what serves. */
function refill(snapshot: Snapshot, row: GangSourceRow, set: PodSet, covers: Cover) {
  const { pause, restartPolicy } = snapshot.spec;
  if (pause === 'freeze' || (pause === 'recover' && restartPolicy === 'None')) return nothingMade;
  return createMissing(snapshot, row, set, row.running, covers);
}

function merged(a: Demand, b: Demand): Demand {
  return { chains: [...a.chains, ...b.chains], holds: [...a.holds, ...b.holds] };
}
