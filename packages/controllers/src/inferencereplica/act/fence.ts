/**
 * The last check before each request (R8): the replica is still the one that was planned for, wants the same, and its
 * persisted status still covers the effect. The lease is checked by the client itself.
 */
import type { DecodedStatus, InstanceRow } from '@omenative/api';
import type { Effect } from '@omenative/engine';
import type { ReplicaRecord } from '../replica-record.js';
import type { ActContext } from './context.js';

/** Why an effect must not be sent now, for people; undefined when it may. */
export function refusalOf(context: ActContext, effect: Effect): string | undefined {
  const { replica, caches } = context;
  const now = caches.replicas.store.get(`${replica.meta.namespace}/${replica.meta.name}`);
  if (now === undefined || now.meta.uid !== replica.meta.uid) return 'the InferenceReplica is gone';
  if (now.meta.deletionAt !== replica.meta.deletionAt) return 'the InferenceReplica is being deleted';
  if (now.generation !== replica.generation) return 'the spec of the InferenceReplica has changed';
  return isCovered(context, now, effect) ? undefined : 'the persisted status does not ask for it any more';
}

function isCovered(context: ActContext, now: ReplicaRecord, effect: Effect): boolean {
  const { covers } = effect;
  const isAsPlanned = now.meta.resourceVersion === context.replica.meta.resourceVersion;
  if (covers.by === 'rule') {
    // A rule follows from the whole status: when another writer has moved it, the next plan derives the effect again.
    return covers.rule === 'object' || isAsPlanned;
  }
  if (isAsPlanned) return hasOperation(context.persisted, covers.index, covers.id);
  return now.status.ok && hasOperation(now.status.status, covers.index, covers.id);
}

function hasOperation(status: DecodedStatus, index: number, id: string): boolean {
  const row = status.rows.get(index);
  return row !== undefined && operationIdOf(row) === id;
}

/** The id of a row's operation, kept ones included. */
export function operationIdOf(row: InstanceRow): string | undefined {
  if (row.kind === 'failed') return row.kept?.id;
  return row.kind === 'foreign' || !('op' in row) ? undefined : row.op.id;
}
