/**
 * What holds an Instance's attempt from outside right now. Facts come first and a pause last: whoever resumes a rollout must
 * not start the clock of an attempt that something else still holds.
 */
import type { Sec } from '@omenative/api';
import type { Parking } from '../clock.js';
import type { Outcome } from '../effects.js';
import type { Hold } from '../hold.js';
import { keyOfCreate, keyOfPatch } from '../keys.js';
import { type AttemptRow, coverIdOf, judgedSet } from '../operations/expire.js';
import { isInPlace } from '../operations/update-in-place.js';
import { servesNow } from '../readiness.js';
import type { Snapshot } from '../snapshot.js';
import { isLive, type PodSet, type Unit } from '../units.js';
import { homelessSince } from './unschedulable.js';

export interface Held {
  readonly parking: Parking;
  /** When a quota refused a pod of the attempt; kept until none of its pods is missing. */
  readonly capacityRefusedAt?: Sec;
  /** Who says so, for people. */
  readonly evidence: string;
}

export function parkingOf(snapshot: Snapshot, unit: Unit, row: AttemptRow): Held {
  const set = judgedSet(snapshot, unit, row);
  const isMissing = set.slots.some(({ occupant }) => occupant.is === 'missing');
  const quota = refusedFor(snapshot, row, set, 'quota');
  const capacityRefusedAt = quota?.at ?? (isMissing ? row.op.capacityRefusedAt : undefined);
  const refused = capacityRefusedAt === undefined ? {} : { capacityRefusedAt };
  // A set that serves retires everything that was read from the cluster.
  const fact = servesNow(set) ? undefined : factOf(snapshot, row, set, capacityRefusedAt, quota?.detail ?? '');
  if (fact !== undefined) return { ...fact, ...refused };
  return { parking: snapshot.spec.pause === 'running' ? 'running' : 'Paused', evidence: '', ...refused };
}

function factOf(
  snapshot: Snapshot,
  row: AttemptRow,
  set: PodSet,
  capacityRefusedAt: Sec | undefined,
  quota: string,
): Pick<Held, 'parking' | 'evidence'> | undefined {
  if (capacityRefusedAt !== undefined) return { parking: 'QuotaExceeded', evidence: quota };
  const webhook = refusedFor(snapshot, row, set, 'admissionUnavailable');
  if (webhook !== undefined) return { parking: 'AdmissionUnavailable', evidence: webhook.detail };
  const homeless = homelessSince(set.live);
  if (homeless !== undefined) {
    return { parking: 'Unschedulable', evidence: `pod ${homeless.pod.name}: ${homeless.message}` };
  }
  const gated = set.live.find((pod) => pod.gated && isLive(pod));
  return gated === undefined ? undefined : { parking: 'AdmissionGated', evidence: `pod ${gated.name}` };
}

/** The first pod that was refused for a reason that is not the pod's: its create or, in place, its patch. */
function refusedFor(
  snapshot: Snapshot,
  row: AttemptRow,
  set: PodSet,
  as: 'quota' | 'admissionUnavailable',
): Outcome | undefined {
  for (const { slot, occupant } of set.slots) {
    const key =
      occupant.is === 'missing'
        ? keyOfCreate(slot.name, coverIdOf(snapshot, row))
        : isInPlace(row) && occupant.is === 'live'
          ? keyOfPatch(slot.name, occupant.pod.uid, row.op.id)
          : undefined;
    const outcome = key === undefined ? undefined : snapshot.inbox.get(key);
    if (outcome?.as === as) return outcome;
  }
  return undefined;
}

/** The hold in words; none where the operation's own hold says it. */
export function holdOf(unit: Unit, row: AttemptRow, { parking, evidence }: Held): Hold | undefined {
  if (parking === 'running' || parking === 'Paused') return undefined;
  const at = row.kind === 'gangFrom' ? row.op.surgeIndex : unit.index;
  const subject = `${row.op.type} of Instance ${unit.index} to ${row.op.target}`;
  const words = evidence === '' ? '' : `: ${evidence}`;
  return {
    is: parking,
    index: unit.index,
    text: `${subject} ${reasons[parking]}${words}`,
    wake: [
      { on: 'pod', key: String(at) },
      { on: 'pod', key: '*' },
    ],
  };
}

const reasons = {
  QuotaExceeded: 'waits for quota (raise the ResourceQuota, or free some of it)',
  AdmissionUnavailable: 'waits for an admission webhook that does not answer',
  Unschedulable: 'waits for a node with room for its pods',
  AdmissionGated: 'waits for the scheduling gates of its pods to be lifted',
} as const;
