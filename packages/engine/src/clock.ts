/**
 * The operation's clock. A deadline is a full window from the moment nothing outside holds the operation; while something
 * does, there is none. Parking and re-arming are derived from what holds it now, so a controller killed in between loses
 * nothing.
 */
import type { OperationBase, Sec } from '@omenative/api';

/**
 * What holds an operation from outside, as it is written to `waiting`; a scheduling gate parks without a token. An attempt
 * has one answer a pass, so that a token never goes empty between two of them.
 */
export type Parking =
  | 'running'
  | 'QuotaExceeded'
  | 'AdmissionUnavailable'
  | 'Unschedulable'
  | 'AdmissionGated'
  | 'Paused';

/** Tokens that this version decides about; any other one survives and parks nothing. */
const parkingTokens: ReadonlySet<string> = new Set([
  'Paused',
  'QuotaExceeded',
  'AdmissionUnavailable',
  'Unschedulable',
  'PodGroupTerminating',
  'NodeUnknown',
  'CapacityProvisioning',
]);

/** The deadline of an operation that starts its window now; absent without a timeout. */
export function deadlineFrom(now: Sec, timeoutSec: number | undefined): { readonly deadline?: Sec } {
  return timeoutSec === undefined || timeoutSec <= 0 ? {} : { deadline: now + timeoutSec };
}

/** `op` with its clock parked or running. Returns `op` itself when nothing changes. */
export function withClock<O extends OperationBase>(
  op: O,
  parking: Parking,
  now: Sec,
  timeoutSec: number | undefined,
): O {
  const waiting = tokenOf(parking) ?? (parkingTokens.has(op.waiting) ? '' : op.waiting);
  if (parking !== 'running') {
    if (op.deadline === undefined && op.waiting === waiting) return op;
    const { deadline: _, ...parked } = op;
    return { ...parked, waiting } as O;
  }
  const armed = op.deadline === undefined ? deadlineFrom(now, timeoutSec) : {};
  if (op.waiting === waiting && armed.deadline === undefined) return op;
  return { ...op, waiting, ...armed };
}

function tokenOf(parking: Parking): string | undefined {
  return parking === 'running' || parking === 'AdmissionGated' ? undefined : parking;
}

/** `op` with the time of the last quota refusal. Returns `op` itself when nothing changes. */
export function withRefusal<O extends OperationBase>(op: O, capacityRefusedAt: Sec | undefined): O {
  if (op.capacityRefusedAt === capacityRefusedAt) return op;
  const { capacityRefusedAt: _, ...others } = op;
  return (capacityRefusedAt === undefined ? others : { ...others, capacityRefusedAt }) as O;
}

export function isOverdue(op: OperationBase, now: Sec): boolean {
  return op.deadline !== undefined && now >= op.deadline;
}
