/** The resource types that the suites on real nodes read and write, with the members that they look at. */
import {
  label,
  type InferenceReplica as ReplicaShape,
  type InferenceService as ServiceShape,
  servingCondition,
} from '@omenative/api';
import type { KubeMetadata, KubeObject, ResourceType } from '@omenative/kube';

/** The metadata of an object that the API server has sent. */
export interface StoredMetadata extends KubeMetadata {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly ownerReferences?: readonly { readonly kind: string; readonly name: string; readonly uid: string }[];
}

export interface Stored extends KubeObject {
  readonly metadata: StoredMetadata;
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface Pod extends Stored {
  readonly spec: { readonly nodeName?: string };
  readonly status: { readonly phase?: string; readonly podIP?: string; readonly conditions?: readonly Condition[] };
}

export interface Service extends Stored {
  readonly spec: { readonly clusterIP?: string; readonly selector?: Readonly<Record<string, string>> };
}

export interface EndpointSlice extends Stored {
  readonly endpoints?: readonly {
    readonly addresses: readonly string[];
    readonly targetRef?: { readonly name: string; readonly uid: string };
    readonly conditions?: { readonly ready?: boolean };
  }[];
}

export interface Event extends Stored {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly note?: string;
  readonly count?: number;
  readonly involvedObject: { readonly kind: string; readonly name: string };
}

export interface Lease extends Stored {
  readonly spec?: { readonly holderIdentity?: string };
}

export interface Node extends Stored {
  readonly status: { readonly conditions?: readonly Condition[] };
}

export interface ConfigMap extends Stored {
  readonly data?: Readonly<Record<string, string>>;
}

export type InferenceReplica = ReplicaShape & Stored;
export type InferenceService = ServiceShape & Stored;

function namespaced<T extends KubeObject>(
  group: string,
  version: string,
  plural: string,
  kind: string,
): ResourceType<T> {
  return { group, version, plural, kind, namespaced: true };
}

export const pods: ResourceType<Pod> = namespaced('', 'v1', 'pods', 'Pod');
export const services: ResourceType<Service> = namespaced('', 'v1', 'services', 'Service');
export const events: ResourceType<Event> = namespaced('', 'v1', 'events', 'Event');
export const configMaps: ResourceType<ConfigMap> = namespaced('', 'v1', 'configmaps', 'ConfigMap');
export const serviceAccounts: ResourceType<Stored> = namespaced('', 'v1', 'serviceaccounts', 'ServiceAccount');
export const deployments: ResourceType<Stored> = namespaced('apps', 'v1', 'deployments', 'Deployment');
export const controllerRevisions: ResourceType<Stored> = namespaced(
  'apps',
  'v1',
  'controllerrevisions',
  'ControllerRevision',
);
export const endpointSlices: ResourceType<EndpointSlice> = namespaced(
  'discovery.k8s.io',
  'v1',
  'endpointslices',
  'EndpointSlice',
);
export const leases: ResourceType<Lease> = namespaced('coordination.k8s.io', 'v1', 'leases', 'Lease');
export const servingRuntimes: ResourceType<Stored> = namespaced(
  'ome.io',
  'v1beta1',
  'servingruntimes',
  'ServingRuntime',
);
export const inferenceServices: ResourceType<InferenceService> = namespaced(
  'ome.io',
  'v1beta1',
  'inferenceservices',
  'InferenceService',
);
export const inferenceReplicas: ResourceType<InferenceReplica> = namespaced(
  'ome.io',
  'v1beta1',
  'inferencereplicas',
  'InferenceReplica',
);
export const nodes: ResourceType<Node> = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
export const namespaces: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
};

/** The condition of that type, wherever an object keeps its conditions. */
export function conditionOf(
  object: { readonly status?: { readonly conditions?: readonly Condition[] } },
  type: string,
): Condition | undefined {
  return object.status?.conditions?.find((condition) => condition.type === type);
}

/** Whether a pod's containers are all ready. */
export function hasReadyContainers(pod: Pod): boolean {
  return conditionOf(pod, 'ContainersReady')?.status === 'True';
}

/** Whether a pod is in rotation. */
export function isServing(pod: Pod): boolean {
  return conditionOf(pod, servingCondition)?.status === 'True';
}

/** Whether somebody has asked for a pod's deletion. */
export function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined;
}

/** The index of the Instance that a pod belongs to; -1 for a pod of no Instance. */
export function instanceOf(pod: Pod): number {
  return Number(pod.metadata.labels?.[label.instanceIndex] ?? -1);
}

/** How many Instances are wanted, ready and available. */
export function countsOf(replica: InferenceReplica): readonly [desired: number, ready: number, available: number] {
  const { readyReplicas = 0, availableReplicas = 0 } = replica.status ?? {};
  return [replica.spec.replicas ?? 0, readyReplicas, availableReplicas];
}
