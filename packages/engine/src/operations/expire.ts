/**
 * The end of an attempt that can't succeed: refused by the API server, without room, stuck in a state that doesn't clear, or
 * past its deadline. Promotion is decided before, so "can be promoted" always beats "expired"; an Instance whose pods all
 * serve never fails.
 */
import type { InstanceRow, RowBase, Sec, Termination } from '@omenative/api';
import { deadlineFrom, isOverdue } from '../clock.js';
import type { Step } from '../draft.js';
import { causeOf, stuckContainers, terminationOfDeadline, terminationOfStuck } from '../failure.js';
import { homelessSince } from '../holds/unschedulable.js';
import { keyOfCreate, keyOfPatch } from '../keys.js';
import { servesNow } from '../readiness.js';
import type { Wave } from '../retry.js';
import { sayInstance } from '../say.js';
import type { PodView, Snapshot } from '../snapshot.js';
import { areProvedAbsent, isGang, isTerminating, type PodSet, type Unit } from '../units.js';
import { type CreatingRow, createSet } from './create.js';
import { parked } from './parked.js';
import { rest } from './row.js';
import { type GangSourceRow, markerIdOf, replacementOf } from './update-gang-surge.js';
import { type InPlaceRow, inPlaceSetOf, isInPlace, toRecreate } from './update-in-place.js';
import { isRecreating, type RecreatingRow, recreateSetsOf } from './update-recreate.js';
import { isDraining, isSurging, type SurgingRow, surgePairOf } from './update-surge.js';

/** An operation that can fail. */
export type AttemptRow = CreatingRow | SurgingRow | RecreatingRow | InPlaceRow | GangSourceRow;

export function isAttempt(row: InstanceRow): row is AttemptRow {
  return (
    row.kind === 'creating' ||
    isSurging(row) ||
    isRecreating(row) ||
    isInPlace(row) ||
    (row.kind === 'gangFrom' && row.phase === 'Updating')
  );
}

/** The pods an attempt is judged by: those it makes. The source of a surge is never blamed for its replacement. */
export function judgedSet(snapshot: Snapshot, unit: Unit, row: AttemptRow): PodSet {
  if (row.kind === 'creating') return createSet(snapshot, unit, row);
  if (row.kind === 'gangFrom') return replacementOf(snapshot, row);
  if (isSurging(row)) return surgePairOf(snapshot, unit, row).replacement;
  return isInPlace(row) ? inPlaceSetOf(snapshot, unit, row) : recreateSetsOf(snapshot, unit, row).set;
}

/** `failed` with its record when the attempt is over; undefined while it may go on. */
export function expire(snapshot: Snapshot, unit: Unit, row: AttemptRow): Step | undefined {
  if (snapshot.spec.pause !== 'running') return undefined;
  const set = judgedSet(snapshot, unit, row);
  if (servesNow(set)) return undefined;
  const failure = failureOf(snapshot, row, set);
  return failure === undefined ? undefined : failed(snapshot, unit, row, set, failure);
}

function failureOf(snapshot: Snapshot, row: AttemptRow, set: PodSet): Termination | undefined {
  const { now } = snapshot;
  const hard = rejection(snapshot, row, set) ?? stuck(snapshot, row, set.live);
  if (hard !== undefined) return hard;
  const homeless = withoutRoom(snapshot, set.live);
  if (homeless !== undefined) return homeless;
  if (!isOverdue(row.op, now)) return undefined;
  return terminationOfDeadline(set.live, `${row.op.type}/${row.op.step}`, row.op.startedAt ?? now, now);
}

/** When `expire` may next decide otherwise without any event; undefined while the pods serve, since then it never does. */
export function expiryWake(snapshot: Snapshot, unit: Unit, row: AttemptRow): Sec | undefined {
  const { stuckPodGraceSec: grace } = snapshot.config;
  const set = judgedSet(snapshot, unit, row);
  if (servesNow(set)) return undefined;
  const times = stuckContainers(set.live, row.op.startedAt ?? snapshot.now).flatMap(({ since }) =>
    grace === undefined || grace <= 0 ? [] : [since + grace],
  );
  const homeless = homelessSince(set.live);
  const roomGrace = unschedulableGrace(snapshot);
  if (homeless !== undefined && roomGrace !== undefined) times.push(homeless.since + roomGrace);
  if (row.op.deadline !== undefined) times.push(row.op.deadline);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** The API server refused a pod of this attempt for good. The inbox is soft: when it is lost, the create is refused again. */
function rejection(snapshot: Snapshot, row: AttemptRow, set: PodSet): Termination | undefined {
  for (const { slot, occupant } of set.slots) {
    const key =
      occupant.is === 'missing'
        ? keyOfCreate(slot.name, coverIdOf(snapshot, row))
        : occupant.is === 'live' && isInPlace(row)
          ? keyOfPatch(slot.name, occupant.pod.uid, row.op.id)
          : undefined;
    const outcome = key === undefined ? undefined : snapshot.inbox.get(key);
    if (outcome === undefined || (outcome.as !== 'invalid' && outcome.as !== 'namespaceTerminating')) continue;
    return {
      podName: slot.name,
      containerName: '',
      reason: outcome.as === 'invalid' ? 'InvalidPodSpec' : 'NamespaceTerminating',
      message: outcome.detail.slice(0, 256),
      time: snapshot.now,
    };
  }
  return undefined;
}

/** Pods of a gang's replacement are created in the name of its marker, whoever wrote that. */
export function coverIdOf(snapshot: Snapshot, row: AttemptRow): string {
  if (row.kind !== 'gangFrom') return row.op.id;
  const marker = snapshot.status.rows.get(row.op.surgeIndex);
  return marker?.kind === 'gangTo' ? marker.op.id : markerIdOf(row);
}

function stuck(snapshot: Snapshot, row: AttemptRow, pods: readonly PodView[]): Termination | undefined {
  const grace = snapshot.config.stuckPodGraceSec;
  if (grace === undefined || grace <= 0) return undefined;
  const found = stuckContainers(pods, row.op.startedAt ?? snapshot.now).find(
    ({ since }) => snapshot.now - since >= grace,
  );
  return found === undefined ? undefined : terminationOfStuck(found, snapshot.now);
}

/** Seconds; undefined turns the rule off, as a grace of nothing or less does. */
function unschedulableGrace({ config }: Snapshot): number | undefined {
  const { unschedulableGraceSec: grace } = config;
  return grace === undefined || grace <= 0 ? undefined : grace;
}

/** No node has had room for longer than the operator wants to wait. Without a grace the wait lasts. */
function withoutRoom(snapshot: Snapshot, pods: readonly PodView[]): Termination | undefined {
  const grace = unschedulableGrace(snapshot);
  const homeless = homelessSince(pods);
  if (grace === undefined || homeless === undefined || snapshot.now - homeless.since < grace) return undefined;
  return {
    podName: homeless.pod.name,
    containerName: '',
    reason: 'Unschedulable',
    message: homeless.message.slice(0, 256),
    time: snapshot.now,
  };
}

function failed(snapshot: Snapshot, unit: Unit, row: AttemptRow, set: PodSet, lastFailure: Termination): Step {
  const cause = causeOf(lastFailure.reason);
  // What the kubelet can't do inside the pod, a new pod may.
  if (isInPlace(row) && cause !== 'workload' && row.op.strategy === 'InPlaceIfPossible') {
    const timeout = deadlineFrom(snapshot.now, snapshot.spec.instanceReadyTimeoutSec);
    const fresh: InPlaceRow = { ...row, lastFailure, op: { ...row.op, ...timeout } };
    return toRecreate(snapshot, fresh, row.op.target, `${lastFailure.reason}: ${lastFailure.message}`);
  }
  const wave: Wave = {
    rev: row.op.target,
    reason: lastFailure.reason,
    cause,
    startedAt: row.op.startedAt ?? snapshot.now,
  };
  const where = lastFailure.containerName === '' ? '' : ` container ${lastFailure.containerName}`;
  return {
    to: 'row',
    row: { ...failedRow(snapshot, unit, row, set), lastFailure },
    failed: wave,
    events: [
      sayInstance(
        snapshot,
        'Warning',
        'InstanceFailed',
        row.index,
        row.op.id,
        `pod ${lastFailure.podName || 'none'}${where}: ${lastFailure.reason}: ${lastFailure.message} (${row.op.type} to revision ${row.op.target}; ${adviceOn(row, cause)})`,
      ),
    ],
  };
}

function adviceOn(row: AttemptRow, cause: ReturnType<typeof causeOf>): string {
  if (cause === 'workload') return 'fix the image or the configuration and publish a corrected revision';
  return row.kind === 'gangFrom' ? 'its replacement is removed' : 'its pods are kept for inspection';
}

/** What the row becomes: each kind of attempt leaves behind what its next try, or its recovery, needs to know. */
function failedRow(snapshot: Snapshot, unit: Unit, row: AttemptRow, set: PodSet): InstanceRow {
  const { target } = row.op;
  if (row.kind === 'gangFrom') return { ...row, phase: 'Failed' };
  if (row.kind === 'creating') return { ...rest(row), kind: 'failed', target };
  if (isSurging(row)) return { ...lifeAfterSurge(snapshot, unit, row), kind: 'failed', target };
  if (isRecreating(row) && isGang(snapshot)) return { ...rest(row), kind: 'failed', target, kept: row.op };
  if (set.live.length === 0) return { ...rest(row), kind: 'failed', target };
  return parked(row, 'Failed');
}

/**
 * Whose slot and revision a failed surge leaves the Instance with: the source's while there is one; the replacement's once
 * the source was given up for it, so that what serves or may serve again is what the row speaks of.
 */
function lifeAfterSurge(snapshot: Snapshot, unit: Unit, row: SurgingRow): RowBase {
  const { source, sourceSlots } = surgePairOf(snapshot, unit, row);
  const isGivenUp =
    isDraining(row.op.step) &&
    (source === undefined ? areProvedAbsent(snapshot, row.index, sourceSlots) : isTerminating(source));
  if (!isGivenUp) return rest(row);
  return { ...rest(row), running: row.op.target, activeOrdinal: row.activeOrdinal === 0 ? 1 : 0 };
}
