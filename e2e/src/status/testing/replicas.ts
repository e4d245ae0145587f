/** InferenceReplicas with many rows, written as the controller writes them. */
import {
  type DecodedStatus,
  type EncodeOptions,
  emptyStatus,
  encodeStatus,
  type InstanceRow,
  newRowBase,
} from '@omenative/api';
import type { ApiServer, Json, Reply } from '../../crds/testing/api-server.js';

export const plural = 'inferencereplicas';
export const revision = 'chat-engine-0a1b2c3d';
export const startedAt = 1_796_064_425;

/** A row on its way up: the largest that most Instances ever have. */
export function creatingRow(index: number): InstanceRow {
  return {
    ...newRowBase(index),
    target: revision,
    kind: 'creating',
    op: {
      id: `create-${index}-1`,
      type: 'Create',
      step: 'CreatePods',
      startedAt,
      lastProgressAt: startedAt,
      deadline: startedAt + 1800,
      retryCount: 0,
      target: revision,
      reason: 'ScaleUp',
      waiting: '',
      carry: {},
    },
  };
}

/** A status with this many rows in phase Creating. */
export function creatingStatus(count: number): DecodedStatus {
  const rows = new Map(Array.from({ length: count }, (_, index) => [index, creatingRow(index)]));
  const counters = { replicas: count, ready: 1, serving: 2, available: 3, updated: 4, updatedReady: 5 };
  return { ...emptyStatus, counters, rows, order: [...rows.keys()], update: revision };
}

/** Creates a replica without a status. */
export async function createReplica(server: ApiServer, name: string): Promise<Json> {
  const template = { spec: { containers: [{ name: 'main', image: 'vllm:1' }] } };
  const { status, body } = await server.create(plural, {
    apiVersion: 'ome.io/v1beta1',
    kind: 'InferenceReplica',
    metadata: { name },
    spec: { component: 'engine', replicas: 7, runners: [{ name: 'default', size: 1, template }] },
  });
  if (status !== 201) throw new Error(`${name}: ${JSON.stringify(body)}`);
  return body;
}

/** Replaces the status of a replica as it was read, managed fields left out. */
export function putStatus(
  server: ApiServer,
  replica: Json,
  status: DecodedStatus,
  options: EncodeOptions,
): Promise<Reply> {
  const { managedFields: _, ...metadata } = replica['metadata'] as Json;
  const body = { ...replica, metadata, status: encodeStatus(status, options).status };
  return server.request('PUT', server.path(plural, `${String(metadata['name'])}/status`), { body });
}
