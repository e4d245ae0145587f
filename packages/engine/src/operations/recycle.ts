/**
 * A pod that has ended keeps its name until it is deleted. Deleting it is booked on the row that owns the operation, in the
 * write before; how often that happened paces it.
 */
import type { InstanceRow, OperationBase, Sec } from '@omenative/api';
import { booked, isBooked } from '../bookings.js';
import { isOverdue } from '../clock.js';
import { podsOrAt, type Step } from '../draft.js';
import { terminationOfPod } from '../failure.js';
import { retryDelaySec } from '../retry.js';
import { sayInstance } from '../say.js';
import type { LifecycleConfig, Snapshot } from '../snapshot.js';
import type { PodSet, Unit } from '../units.js';

const reason = 'TerminalPodRecycled';

/**
 * Books the ended pods of the set, or waits for its turn; undefined when none needs it. `unit.index` is where the pods are:
 * in a gang surge the row is their source's.
 */
export function recycleStep(
  snapshot: Snapshot,
  unit: Unit,
  row: InstanceRow & { readonly op: OperationBase },
  set: PodSet,
): Step | undefined {
  const { now, config } = snapshot;
  const ended = set.slots
    .flatMap(({ occupant }) => (occupant.is === 'terminal' ? [occupant.pod] : []))
    .filter((pod) => !isBooked(row, pod, reason));
  const first = ended[0];
  if (first === undefined) return undefined;
  const notBefore = pacedUntil(row.op.lastProgressAt ?? now, row.op.retryCount, config);
  if (notBefore > now || isOverdue(row.op, now)) {
    return {
      to: 'wait',
      hold: {
        is: 'RecyclePacing',
        index: row.index,
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
      announced: booked(row, reason, ended),
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
