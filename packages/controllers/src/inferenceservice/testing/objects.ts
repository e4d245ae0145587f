/** InferenceServices, runtimes and models as an API server holds them, for tests. */
import { apiVersion } from '@omenative/api';
import { OperatorConfig } from '../../config/operator-config.js';
import type { OperatorSettings } from '../../config/settings.js';
import { type ReplicaRecord, replicaRecordOf } from '../../inferencereplica/replica-record.js';
import { type ServiceRecord, serviceRecordOf } from '../../inferencereplica/routing.js';
import { asText, type JsonRecord } from '../../shared/json.js';
import { type ObjectRecord, objectRecordOf } from '../../shared/object-record.js';
import type { Catalog } from '../lookup.js';
import type { ServiceWorld } from '../render.js';
import { type InferenceServiceRecord, inferenceServiceOf } from '../service-record.js';

export const namespace = 'lab';
/** UID of the InferenceService `chat`. */
export const serviceUid = 'uid-chat';

type Meta = JsonRecord & { readonly name?: string };

export function rawService(spec: JsonRecord, meta: Meta = {}, status: JsonRecord = {}): JsonRecord {
  return {
    apiVersion,
    kind: 'InferenceService',
    metadata: { name: 'chat', namespace, uid: serviceUid, resourceVersion: '10', generation: 7, ...meta },
    spec,
    status,
  };
}

export function serviceOf(spec: JsonRecord, meta: Meta = {}, status: JsonRecord = {}): InferenceServiceRecord {
  return inferenceServiceOf(objectRecordOf(rawService(spec, meta, status)));
}

/** A runtime `echo` in the namespace, or elsewhere when `meta` says so. */
export function rawRuntime(spec: JsonRecord, meta: Meta = {}): JsonRecord {
  return {
    apiVersion,
    kind: 'ServingRuntime',
    metadata: { name: 'echo', namespace, uid: 'uid-echo', resourceVersion: '11', ...meta },
    spec,
  };
}

/** An engine that is all there. */
export const echoRuntime: JsonRecord = {
  engineConfig: { runner: { name: 'ome-container', image: 'echo:1', ports: [{ name: 'http', containerPort: 8080 }] } },
};

export interface CatalogObjects {
  readonly servingRuntimes?: readonly JsonRecord[];
  readonly clusterServingRuntimes?: readonly JsonRecord[];
  readonly baseModels?: readonly JsonRecord[];
  readonly clusterBaseModels?: readonly JsonRecord[];
}

function find(list: readonly JsonRecord[] | undefined, space: string, name: string): ObjectRecord | undefined {
  return list?.map(objectRecordOf).find((record) => record.meta.name === name && record.meta.namespace === space);
}

export function catalogOf(objects: CatalogObjects): Catalog {
  return {
    servingRuntime: (space, name) => find(objects.servingRuntimes, space, name),
    clusterServingRuntime: (name) => find(objects.clusterServingRuntimes, '', name),
    baseModel: (space, name) => find(objects.baseModels, space, name),
    clusterBaseModel: (name) => find(objects.clusterBaseModels, '', name),
  };
}

/** Settings of an operator who wrote `documents`, each as JSON. */
export function settingsOf(documents: Readonly<Record<string, JsonRecord>> = {}): OperatorSettings {
  const data: Record<string, string> = { omenativeStatus: '{"instanceStatusEncoding":"DenseV1"}' };
  for (const [key, document] of Object.entries(documents)) data[key] = JSON.stringify(document);
  return new OperatorConfig(data).current();
}

/** A replica of `chat`, as this controller projects it, with a status. */
export function replicaOf(spec: JsonRecord, status: JsonRecord = {}, meta: Meta = {}): ReplicaRecord {
  const component = asText(spec['component']) || 'engine';
  return replicaRecordOf({
    apiVersion,
    kind: 'InferenceReplica',
    metadata: {
      name: `chat-${component}`,
      namespace,
      uid: `uid-chat-${component}`,
      resourceVersion: '20',
      generation: 1,
      ownerReferences: [{ apiVersion, kind: 'InferenceService', name: 'chat', uid: serviceUid, controller: true }],
      ...meta,
    },
    spec: { component, parentRef: { name: 'chat' }, replicas: 1, ...spec },
    status: { observedGeneration: 1, ...status },
  });
}

/** A Service in the cache, ours unless `meta` says otherwise. */
export function storedService(name: string, labels: JsonRecord, spec: JsonRecord = {}, meta: Meta = {}): ServiceRecord {
  return serviceRecordOf({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name,
      namespace,
      uid: `uid-${name}`,
      resourceVersion: '30',
      labels: { 'ome.io/managed-by': 'OMENative', 'ome.io/inferenceservice': 'chat', ...labels },
      ownerReferences: [{ apiVersion, kind: 'InferenceService', name: 'chat', uid: serviceUid, controller: true }],
      ...meta,
    },
    spec: { clusterIP: '10.0.0.1', ...spec },
  });
}

export interface WorldParts extends CatalogObjects {
  readonly service: InferenceServiceRecord;
  readonly replicas?: readonly ReplicaRecord[];
  readonly services?: readonly ServiceRecord[];
  /** By the UID of the replica. */
  readonly podHashes?: Readonly<Record<string, readonly string[]>>;
  readonly settings?: OperatorSettings;
}

export function worldOf(parts: WorldParts): ServiceWorld {
  const { replicas = [], services = [], podHashes = {} } = parts;
  return {
    service: parts.service,
    catalog: catalogOf(parts),
    replicas: replicas.filter((replica) => replica.parentName === parts.service.meta.name),
    replicaNamed: (name) => replicas.find((replica) => replica.meta.name === name),
    services,
    podHashes: (uid) => new Set(podHashes[uid] ?? []),
    settings: parts.settings ?? settingsOf(),
    quotaResources: 'all',
  };
}
