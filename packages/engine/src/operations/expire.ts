/**
 * The end of an attempt that can't succeed: refused by the API server, stuck in a state that doesn't clear, or past its
 * deadline. Promotion is decided before, so "can be promoted" always beats "expired"; an Instance whose pods all serve
 * never fails.
 */
import type { InstanceRow, RowBase, Sec, Termination } from '@omenative/api';
import { isOverdue } from '../clock.js';
import type { Step } from '../draft.js';
import { causeOf, stuckContainers, terminationOfDeadline, terminationOfStuck } from '../failure.js';
import { keyOfCreate } from '../keys.js';
import { servesNow } from '../readiness.js';
import { sayInstance } from '../say.js';
import type { PodView, Snapshot } from '../snapshot.js';
import { areProvedAbsent, isTerminating, type PodSet, type Unit } from '../units.js';
import { type CreatingRow, createSet } from './create.js';
import { rest } from './row.js';
import { isDraining, isSurging, type SurgingRow, surgePairOf } from './update-surge.js';

/** The pods an attempt is judged by: those it makes. The source of a surge is never blamed for its replacement. */
function judgedSet(snapshot: Snapshot, unit: Unit, row: CreatingRow | SurgingRow): PodSet {
  return isSurging(row) ? surgePairOf(snapshot, unit, row).replacement : createSet(snapshot, unit, row);
}

/** `failed` with its record when the attempt is over; undefined while it may go on. */
export function expire(snapshot: Snapshot, unit: Unit, row: CreatingRow | SurgingRow): Step | undefined {
  const { now, spec } = snapshot;
  if (spec.pause !== 'running') return undefined;
  const set = judgedSet(snapshot, unit, row);
  if (servesNow(set)) return undefined;
  const failure =
    rejection(snapshot, row, set) ??
    stuck(snapshot, row, set.live) ??
    (isOverdue(row.op, now)
      ? terminationOfDeadline(set.live, `${row.op.type}/${row.op.step}`, row.op.startedAt ?? now, now)
      : undefined);
  return failure === undefined ? undefined : failed(snapshot, unit, row, failure);
}

/** When `expire` may next decide otherwise without any event; undefined while the pods serve, since then it never does. */
export function expiryWake(snapshot: Snapshot, unit: Unit, row: CreatingRow | SurgingRow): Sec | undefined {
  const grace = snapshot.config.stuckPodGraceSec;
  const set = judgedSet(snapshot, unit, row);
  if (servesNow(set)) return undefined;
  const times = stuckContainers(set.live, row.op.startedAt ?? snapshot.now).flatMap(({ since }) =>
    grace === undefined || grace <= 0 ? [] : [since + grace],
  );
  if (row.op.deadline !== undefined) times.push(row.op.deadline);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** The API server refused a pod of this attempt for good. The inbox is soft: when it is lost, the create is refused again. */
function rejection(snapshot: Snapshot, row: CreatingRow | SurgingRow, set: PodSet): Termination | undefined {
  for (const { slot, occupant } of set.slots) {
    if (occupant.is !== 'missing') continue;
    const outcome = snapshot.inbox.get(keyOfCreate(slot.name, row.op.id));
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

function stuck(snapshot: Snapshot, row: CreatingRow | SurgingRow, pods: readonly PodView[]): Termination | undefined {
  const grace = snapshot.config.stuckPodGraceSec;
  if (grace === undefined || grace <= 0) return undefined;
  const found = stuckContainers(pods, row.op.startedAt ?? snapshot.now).find(
    ({ since }) => snapshot.now - since >= grace,
  );
  return found === undefined ? undefined : terminationOfStuck(found, snapshot.now);
}

function failed(snapshot: Snapshot, unit: Unit, row: CreatingRow | SurgingRow, lastFailure: Termination): Step {
  const life = isSurging(row) ? lifeAfterSurge(snapshot, unit, row) : rest(row);
  const next: InstanceRow = { ...life, kind: 'failed', target: row.op.target, lastFailure };
  const where = lastFailure.containerName === '' ? '' : ` container ${lastFailure.containerName}`;
  const advice =
    causeOf(lastFailure.reason) === 'workload'
      ? `; fix the image or the configuration and publish a corrected revision`
      : '; its pods are kept for inspection';
  return {
    to: 'row',
    row: next,
    events: [
      sayInstance(
        snapshot,
        'Warning',
        'InstanceFailed',
        row.index,
        row.op.id,
        `pod ${lastFailure.podName || 'none'}${where}: ${lastFailure.reason}: ${lastFailure.message} (${row.op.type} to revision ${row.op.target}${advice})`,
      ),
    ],
  };
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
