/**
 * A pod that has ended keeps its name until it is deleted. Deleting it is not idempotent by itself (each time costs an
 * attempt), so it is booked on the row, by the pod's UID, in the write before the deletion.
 */
import type { InstanceRow, Sec } from '@omenative/api';
import { isOverdue } from '../clock.js';
import { podsOrAt, type Step } from '../draft.js';
import { terminationOfPod } from '../failure.js';
import { sayInstance } from '../say.js';
import type { LifecycleConfig, PodView, Snapshot } from '../snapshot.js';
import type { PodSet, Unit } from '../units.js';
import type { CreatingRow } from './create.js';
import type { SurgingRow } from './update-surge.js';

const reason = 'TerminalPodRecycled';

/** Whether the row says that this pod may be deleted. */
export function isRecycleBooked(row: InstanceRow, pod: PodView): boolean {
  return row.announced.includes(`${reason}@${pod.uid}`);
}

/** Bookings of pods that are gone are of no more use. */
export function withoutSpentBookings(row: InstanceRow, unit: Unit): InstanceRow {
  const uids = new Set(unit.pods.map((pod) => pod.uid));
  const kept = row.announced.filter(
    (entry) => !entry.startsWith(`${reason}@`) || uids.has(entry.slice(reason.length + 1)),
  );
  return kept.length === row.announced.length ? row : { ...row, announced: kept };
}

/** Books the ended pods of the set, or waits for its turn; undefined when none needs it. */
export function recycleStep(
  snapshot: Snapshot,
  unit: Unit,
  row: CreatingRow | SurgingRow,
  set: PodSet,
): Step | undefined {
  const { now, config } = snapshot;
  const ended = set.slots
    .flatMap(({ occupant }) => (occupant.is === 'terminal' ? [occupant.pod] : []))
    .filter((pod) => !isRecycleBooked(row, pod));
  const first = ended[0];
  if (first === undefined) return undefined;
  const notBefore = pacedUntil(row.op.lastProgressAt ?? now, row.op.retryCount, config);
  if (notBefore > now || isOverdue(row.op, now)) {
    return {
      to: 'wait',
      hold: {
        is: 'RecyclePacing',
        index: unit.index,
        text: `pod ${first.name} ended (${first.statusReason || first.phase}) and is replaced after a pause`,
        wake: podsOrAt(unit.index, notBefore > now ? notBefore : row.op.deadline),
      },
    };
  }
  const count = row.op.retryCount + 1;
  return {
    to: 'row',
    row: {
      ...row,
      op: { ...row.op, retryCount: count, lastProgressAt: now },
      lastFailure: terminationOfPod(first, now),
      announced: [...row.announced, ...ended.map((pod) => `${reason}@${pod.uid}`)],
    } as InstanceRow,
    events: ended.map((pod) =>
      sayInstance(
        snapshot,
        'Warning',
        reason,
        unit.index,
        pod.uid,
        `pod ${pod.name} (${pod.phase}/${pod.statusReason || 'ended'}) is deleted and created again (recycle ${count})`,
      ),
    ),
  };
}

/** The first recycle of an attempt is immediate; later ones follow the retry policy, when there is one. */
function pacedUntil(lastProgressAt: Sec, retryCount: number, config: LifecycleConfig): Sec {
  if (retryCount === 0 || config.updateRetry === undefined) return lastProgressAt;
  return lastProgressAt + retryDelaySec(config.updateRetry, retryCount);
}

/** `min(maxDelay, initialDelay × multiplier^(attempt-1))`, seconds, rounded up. */
export function retryDelaySec(policy: NonNullable<LifecycleConfig['updateRetry']>, attempt: number): number {
  const delay = policy.initialDelaySec * policy.multiplier ** (attempt - 1);
  return Math.ceil(delay > 0 ? Math.min(policy.maxDelaySec, delay) : policy.maxDelaySec);
}
