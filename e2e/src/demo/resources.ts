/** The resource types that the demo writes or watches. */
import type { KubeObject, ResourceType } from '@omenative/kube';

function namespaced(group: string, version: string, plural: string, kind: string): ResourceType {
  return { group, version, plural, kind, namespaced: true };
}

export const namespaceType: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
};
export const podType: ResourceType = namespaced('', 'v1', 'pods', 'Pod');
export const serviceType: ResourceType = namespaced('', 'v1', 'services', 'Service');
export const eventType: ResourceType = namespaced('', 'v1', 'events', 'Event');
export const revisionType: ResourceType = namespaced('apps', 'v1', 'controllerrevisions', 'ControllerRevision');
export const sliceType: ResourceType = namespaced('discovery.k8s.io', 'v1', 'endpointslices', 'EndpointSlice');
export const servingRuntimeType: ResourceType = namespaced('ome.io', 'v1beta1', 'servingruntimes', 'ServingRuntime');
export const inferenceServiceType: ResourceType = namespaced(
  'ome.io',
  'v1beta1',
  'inferenceservices',
  'InferenceService',
);
export const inferenceReplicaType: ResourceType = namespaced(
  'ome.io',
  'v1beta1',
  'inferencereplicas',
  'InferenceReplica',
);

const written: readonly ResourceType[] = [namespaceType, servingRuntimeType, inferenceServiceType];

/** @throws TypeError for a kind that the demo has no business with. */
export function typeOf(object: KubeObject): ResourceType {
  const type = written.find(({ kind }) => kind === object.kind);
  if (type === undefined) throw new TypeError(`the demo does not write objects of kind ${object.kind}`);
  return type;
}
