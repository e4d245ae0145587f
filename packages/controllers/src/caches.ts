/**
 * The caches that all controllers share: one watch stream a type, over all namespaces, projected to what is used. Objects
 * that carry `ome.io/managed-by` are the only pods, Services, slices and revisions in them.
 */
import { label, managedByValue } from '@omenative/api';
import { Informer, type InformerProblem, type ResourceType, type Runtime, type Transport } from '@omenative/kube';
import { configMapName } from './config/default-config-map.js';
import { type NodeRecord, nodeRecordOf } from './inferencereplica/node-record.js';
import { isProofOfDeletion, type PodRecord, podRecordOf } from './inferencereplica/pod-view.js';
import { type ReplicaRecord, replicaRecordOf } from './inferencereplica/replica-record.js';
import { type RevisionRecord, revisionRecordOf } from './inferencereplica/revision-object.js';
import { type ServiceRecord, type SliceRecord, serviceRecordOf, sliceRecordOf } from './inferencereplica/routing.js';
import type { ObjectMeta } from './shared/meta.js';
import { type ObjectRecord, objectRecordOf } from './shared/object-record.js';
import {
  baseModelType,
  clusterBaseModelType,
  clusterServingRuntimeType,
  configMapType,
  controllerRevisionType,
  endpointSliceType,
  inferenceReplicaType,
  inferenceServiceType,
  nodeType,
  podType,
  serviceType,
  servingRuntimeType,
} from './shared/resources.js';

/** Names of the indexes, and what each finds an object by. */
export const index = {
  /** UID of the controlling owner. */
  controller: 'controller',
  /** `namespace/owner`, the prefix of all names: an InferenceService or a standalone replica. */
  owner: 'owner',
  /** `namespace/service`: the slices of one Service. */
  service: 'service',
} as const;

export interface CachesOptions {
  readonly transport: Transport;
  readonly runtime: Runtime;
  /** Where `inferenceservice-config` is. */
  readonly configNamespace: string;
  /** Absent: all namespaces. The ConfigMap's and cluster-scoped types are not affected. */
  readonly namespace?: string;
  /** Most rows that a columnar status may name. Absent: the codec's own limit. */
  readonly maxDecodedInstances?: number;
  /** Told of everything that went wrong in a stream; all of it is being taken care of. */
  readonly report: (problem: InformerProblem) => void;
}

export interface Caches {
  readonly pods: Informer<PodRecord>;
  readonly services: Informer<ServiceRecord>;
  readonly slices: Informer<SliceRecord>;
  readonly revisions: Informer<RevisionRecord>;
  readonly replicas: Informer<ReplicaRecord>;
  readonly inferenceServices: Informer<ObjectRecord>;
  readonly servingRuntimes: Informer<ObjectRecord>;
  readonly clusterServingRuntimes: Informer<ObjectRecord>;
  readonly baseModels: Informer<ObjectRecord>;
  readonly clusterBaseModels: Informer<ObjectRecord>;
  readonly nodes: Informer<NodeRecord>;
  readonly config: Informer<ObjectRecord>;
}

/** Builds the caches; nothing is read before `startCaches`. */
export function createCaches(options: CachesOptions): Caches {
  const { transport, runtime, report, namespace, configNamespace, maxDecodedInstances } = options;
  const common = { transport, runtime, report, ...(namespace === undefined ? {} : { namespace }) };
  const cluster = { transport, runtime, report };
  const managed = { ...common, labels: { [label.managedBy]: managedByValue } };
  const whole = (type: ResourceType): Informer<ObjectRecord> =>
    new Informer({ ...(type.namespaced ? common : cluster), type, project: objectRecordOf });
  return {
    pods: new Informer({
      ...managed,
      type: podType,
      project: podRecordOf,
      isProofOfDeletion,
      indexes: { [index.controller]: (pod: PodRecord) => controllerOf(pod.meta) },
    }),
    services: new Informer({
      ...managed,
      type: serviceType,
      project: serviceRecordOf,
      indexes: { [index.owner]: (service: ServiceRecord) => [ownerKey(service.meta, service.selector)] },
    }),
    slices: new Informer({
      ...managed,
      type: endpointSliceType,
      project: sliceRecordOf,
      indexes: { [index.service]: (slice: SliceRecord) => [`${slice.meta.namespace}/${slice.service}`] },
    }),
    revisions: new Informer({
      ...managed,
      type: controllerRevisionType,
      project: revisionRecordOf,
      indexes: { [index.controller]: (revision: RevisionRecord) => controllerOf(revision.meta) },
    }),
    replicas: new Informer({
      ...common,
      type: inferenceReplicaType,
      project: (raw: unknown) => replicaRecordOf(raw, maxDecodedInstances),
      indexes: { [index.owner]: (replica: ReplicaRecord) => [`${replica.meta.namespace}/${replica.owner}`] },
    }),
    inferenceServices: whole(inferenceServiceType),
    servingRuntimes: whole(servingRuntimeType),
    clusterServingRuntimes: whole(clusterServingRuntimeType),
    baseModels: whole(baseModelType),
    clusterBaseModels: whole(clusterBaseModelType),
    nodes: new Informer({ ...cluster, type: nodeType, project: nodeRecordOf }),
    config: new Informer({
      ...cluster,
      type: configMapType,
      namespace: configNamespace,
      fieldSelector: `metadata.name=${configMapName}`,
      project: objectRecordOf,
    }),
  };
}

export function startCaches(caches: Caches): void {
  for (const informer of informersOf(caches)) informer.start();
}

export function stopCaches(caches: Caches): void {
  for (const informer of informersOf(caches)) informer.stop();
}

/** Resolves once every cache holds a first complete list. */
export async function whenCachesSynced(caches: Caches): Promise<void> {
  for (const informer of informersOf(caches)) await informer.whenSynced();
}

/** All of them, for health and metrics. */
export function informersOf(caches: Caches): readonly Informer<unknown>[] {
  return Object.values(caches) as readonly Informer<unknown>[];
}

function controllerOf(meta: ObjectMeta): readonly string[] {
  return meta.controller.uid === '' ? [] : [meta.controller.uid];
}

/** A Service is filed under the owner whose pods it selects, since that is what it can route to. */
function ownerKey(meta: ObjectMeta, selector: Readonly<Record<string, string>>): string {
  return `${meta.namespace}/${selector[label.inferenceService] ?? meta.labels[label.inferenceService] ?? ''}`;
}
