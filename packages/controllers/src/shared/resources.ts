/** The resource types that the controllers read and write. */
import type { ResourceType } from '@omenative/kube';

function core(plural: string, kind: string): ResourceType {
  return { group: '', version: 'v1', plural, kind, namespaced: true };
}

function ome(plural: string, kind: string, scope: 'namespaced' | 'cluster'): ResourceType {
  return { group: 'ome.io', version: 'v1beta1', plural, kind, namespaced: scope === 'namespaced' };
}

export const podType: ResourceType = core('pods', 'Pod');
export const nodeType: ResourceType = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
export const serviceType: ResourceType = core('services', 'Service');
export const configMapType: ResourceType = core('configmaps', 'ConfigMap');
export const endpointSliceType: ResourceType = {
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
};
export const controllerRevisionType: ResourceType = {
  group: 'apps',
  version: 'v1',
  plural: 'controllerrevisions',
  kind: 'ControllerRevision',
  namespaced: true,
};
export const inferenceServiceType: ResourceType = ome('inferenceservices', 'InferenceService', 'namespaced');
export const inferenceReplicaType: ResourceType = ome('inferencereplicas', 'InferenceReplica', 'namespaced');
export const servingRuntimeType: ResourceType = ome('servingruntimes', 'ServingRuntime', 'namespaced');
export const clusterServingRuntimeType: ResourceType = ome(
  'clusterservingruntimes',
  'ClusterServingRuntime',
  'cluster',
);
export const baseModelType: ResourceType = ome('basemodels', 'BaseModel', 'namespaced');
export const clusterBaseModelType: ResourceType = ome('clusterbasemodels', 'ClusterBaseModel', 'cluster');
