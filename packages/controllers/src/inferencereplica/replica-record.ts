/** What the cache keeps of an InferenceReplica: its head, its spec as written, and its status decoded once. */
import { type DecodeResult, decodeStatus, teardownFinalizer } from '@omenative/api';
import type { ReplicaHead } from '@omenative/engine';
import { asInteger, asRecord, asText, type JsonRecord } from '../shared/json.js';
import { metaOf, type ObjectMeta } from '../shared/meta.js';

export interface ReplicaRecord {
  readonly meta: ObjectMeta;
  readonly generation: number;
  /** The InferenceService that projected this replica; '' for a standalone one. */
  readonly parentName: string;
  /** Prefix of all names: the InferenceService, or the replica itself. */
  readonly owner: string;
  readonly spec: JsonRecord;
  /** The whole object without `status` and managed fields: what a status write sends back. */
  readonly base: JsonRecord;
  readonly status: DecodeResult;
}

/** Projects an InferenceReplica as the API server sent it. `maxDecodedInstances` bounds what a columnar status may name. */
export function replicaRecordOf(raw: unknown, maxDecodedInstances?: number): ReplicaRecord {
  const { status, metadata, ...rest } = asRecord(raw);
  const { managedFields: _managedFields, ...kept } = asRecord(metadata);
  const meta = metaOf(asRecord(raw));
  const spec = asRecord(rest['spec']);
  const parentName = asText(asRecord(spec['parentRef'])['name']);
  return {
    meta,
    generation: asInteger(kept['generation']) ?? 0,
    parentName,
    owner: parentName === '' ? meta.name : parentName,
    spec,
    base: { ...rest, metadata: kept },
    status: decodeStatus(asRecord(status), maxDecodedInstances === undefined ? {} : { maxDecodedInstances }),
  };
}

/**
 * The replica as a plan sees it. The parent's UID comes from the controller reference that the garbage collector obeys:
 * the InferenceService of that name may be a later one.
 */
export function headOf(record: ReplicaRecord): ReplicaHead {
  const { meta } = record;
  return {
    namespace: meta.namespace,
    name: meta.name,
    uid: meta.uid,
    resourceVersion: meta.resourceVersion,
    generation: record.generation,
    annotations: meta.annotations,
    ...(meta.deletionAt === undefined ? {} : { deletingSince: meta.deletionAt }),
    finalizer: meta.finalizers.includes(teardownFinalizer) ? 'present' : 'absent',
    ...(record.parentName === '' ? {} : { parent: { name: record.parentName, uid: meta.controller.uid } }),
  };
}
