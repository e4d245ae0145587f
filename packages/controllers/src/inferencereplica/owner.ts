/** The replica as the owner of what it makes. */
import { apiVersion } from '@omenative/api';
import type { ReplicaHead } from '@omenative/engine';
import type { JsonRecord } from '../shared/json.js';

/**
 * The controller reference to a replica. It never blocks the replica's deletion: its own finalizer does that, and a
 * foreground deletion that waits for pods would wait for what drains only after it.
 */
export function ownerReference(replica: ReplicaHead): JsonRecord {
  return {
    apiVersion,
    kind: 'InferenceReplica',
    name: replica.name,
    uid: replica.uid,
    controller: true,
    blockOwnerDeletion: false,
  };
}
