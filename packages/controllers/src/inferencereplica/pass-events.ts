/** The Events of what stands in the way of a plan, or follows from none: each names the replica, and what to do next. */
import type { DecodedStatus, StatusEncoding } from '@omenative/api';
import type { EventIntent } from '@omenative/engine';
import type { ReplicaRecord } from './replica-record.js';

export function statusConverted(replica: ReplicaRecord, status: DecodedStatus, to: StatusEncoding): EventIntent {
  const { stored: from, rows } = status;
  const words = `per-Instance status was rewritten from ${from} to ${to} (${rows.size} Instances); lifecycle reconciliation resumes on the next pass`;
  return say(replica, 'Normal', 'InstanceStatusConverted', `${from}/${to}/${replica.meta.resourceVersion}`, words);
}

export function statusUnreadable(replica: ReplicaRecord, message: string): EventIntent {
  const words = `the status can't be decoded, so nothing is done for this replica: ${message}. Restore the status, or remove its rows: pods are then taken in again`;
  return say(replica, 'Warning', 'InstanceStatusDecodeFailed', message, words);
}

/** `written` is the size of what was refused, `detail` what the API server said to it. */
export function statusTooLarge(
  replica: ReplicaRecord,
  instances: number,
  written: { readonly bytes: number; readonly encoding: StatusEncoding },
  detail: string,
): EventIntent {
  const words = `status write of ${written.bytes} bytes (${written.encoding}): the status of ${instances} Instance(s) does not fit into one object and can't be written; run fewer Instances in one component: ${detail}`;
  return say(replica, 'Warning', 'StatusSizeExceeded', String(instances), words);
}

/** A spec that can't be run; `reason` is that of the condition. */
export function specRefused(replica: ReplicaRecord, reason: string, message: string): EventIntent {
  return say(replica, 'Warning', reason, `${replica.generation}/${message}`, message);
}

export function templateRefused(replica: ReplicaRecord, target: string, message: string): EventIntent {
  const words = `no Instance is moved to ${target}, because the API server refuses its pods: ${message}. Correct the template, or what refuses it`;
  return say(replica, 'Warning', 'PodTemplateInvalid', `${target}/${message}`, words);
}

/** A rollback to `wanted`, which is none of the revisions that there are. */
export function rollbackIgnored(replica: ReplicaRecord, wanted: string, revisions: readonly string[]): EventIntent {
  const known = revisions.length === 0 ? 'it has none' : `it has ${revisions.toSorted().join(', ')}`;
  const words = `spec.pacing.rollbackToRevision ${wanted} is not a revision of this replica and is ignored, so the template of the spec rolls; ${known}`;
  return say(replica, 'Warning', 'RollbackRevisionForeign', `${replica.meta.uid}/${wanted}`, words);
}

export function revisionTaken(
  replica: ReplicaRecord,
  revision: string,
  why: string,
  collisionCount: number,
): EventIntent {
  const words = `revision name ${revision} is taken (${why}); trying the next name (collisionCount ${collisionCount})`;
  return say(replica, 'Warning', 'RevisionCollision', `${revision}/${collisionCount}`, words);
}

export function notPermitted(replica: ReplicaRecord, detail: string): EventIntent {
  const words = `${detail}; it is tried again: give the manager's ServiceAccount this permission`;
  return say(replica, 'Warning', 'NotPermitted', detail, words);
}

export function nameTaken(replica: ReplicaRecord, effect: string, detail: string): EventIntent {
  return say(replica, 'Warning', 'NameTaken', effect, detail);
}

function say(
  replica: ReplicaRecord,
  type: EventIntent['type'],
  reason: string,
  episode: string,
  words: string,
): EventIntent {
  const { namespace, name } = replica.meta;
  const component = String(replica.spec['component']);
  return { reason, type, episode, text: `InferenceReplica ${namespace}/${name} component=${component}: ${words}` };
}
