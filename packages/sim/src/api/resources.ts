/** The resources the API server serves: a table of the built-in ones, and those that CustomResourceDefinitions add. */

import type { World } from '../base/world.js';
import { customResource, customVersions } from '../crd/definition.js';
import { builtInMergeNode } from './merge-schema.js';
import { apiVersionOf, type Resource } from './resource.js';

type Flag = 'cluster' | 'status' | 'scale' | 'generation' | 'all';

function row(apiVersion: string, kind: string, plural: string, short: string, ...flags: readonly Flag[]): Resource {
  const [first, second] = apiVersion.split('/');
  const group = second === undefined ? '' : (first ?? '');
  const id = group === '' ? plural : `${plural}.${group}`;
  const resource: Resource = {
    id,
    group,
    version: second ?? first ?? '',
    kind,
    plural,
    singular: kind.toLowerCase(),
    shortNames: short === '' ? [] : short.split(','),
    categories: flags.includes('all') ? ['all'] : [],
    namespaced: !flags.includes('cluster'),
    status: flags.includes('status'),
    generation: flags.includes('generation') ? 'kept' : 'none',
    merge: builtInMergeNode(id),
  };
  if (!flags.includes('scale')) return resource;
  return { ...resource, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } };
}

/** Asked by `kubectl auth can-i`: answered, and never stored. */
export const REVIEWS = 'selfsubjectaccessreviews';

/** Resources without a controller in this cluster are only stored, so that charts can be installed. */
const BUILT_IN: readonly Resource[] = [
  row('v1', 'Pod', 'pods', 'po', 'status', 'generation', 'all'),
  row('v1', 'Service', 'services', 'svc', 'status', 'all'),
  row('v1', 'Node', 'nodes', 'no', 'cluster', 'status'),
  row('v1', 'Namespace', 'namespaces', 'ns', 'cluster', 'status'),
  row('v1', 'ConfigMap', 'configmaps', 'cm'),
  row('v1', 'Secret', 'secrets', ''),
  row('v1', 'Event', 'events', 'ev'),
  row('v1', 'ResourceQuota', 'resourcequotas', 'quota', 'status'),
  row('v1', 'ServiceAccount', 'serviceaccounts', 'sa'),
  row('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims', 'pvc', 'status'),
  row('apps/v1', 'ControllerRevision', 'controllerrevisions', ''),
  row('apps/v1', 'Deployment', 'deployments', 'deploy', 'status', 'scale', 'generation', 'all'),
  row('apps/v1', 'ReplicaSet', 'replicasets', 'rs', 'status', 'scale', 'generation', 'all'),
  row('apps/v1', 'StatefulSet', 'statefulsets', 'sts', 'status', 'scale', 'generation', 'all'),
  row('apps/v1', 'DaemonSet', 'daemonsets', 'ds', 'status', 'generation', 'all'),
  row('batch/v1', 'Job', 'jobs', '', 'status', 'generation', 'all'),
  row('autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', 'hpa', 'status', 'all'),
  row('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices', '', 'generation'),
  row('coordination.k8s.io/v1', 'Lease', 'leases', ''),
  row('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', 'pdb', 'status', 'generation'),
  row('scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses', 'pc', 'cluster', 'generation'),
  row('authorization.k8s.io/v1', 'SelfSubjectAccessReview', REVIEWS, '', 'cluster'),
  row('rbac.authorization.k8s.io/v1', 'Role', 'roles', ''),
  row('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings', ''),
  row('rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles', '', 'cluster'),
  row('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'clusterrolebindings', '', 'cluster'),
  row(
    'admissionregistration.k8s.io/v1',
    'ValidatingAdmissionPolicy',
    'validatingadmissionpolicies',
    '',
    'cluster',
    'status',
    'generation',
  ),
  row(
    'admissionregistration.k8s.io/v1',
    'ValidatingAdmissionPolicyBinding',
    'validatingadmissionpolicybindings',
    '',
    'cluster',
    'generation',
  ),
  row(
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    'customresourcedefinitions',
    'crd,crds',
    'cluster',
    'status',
    'generation',
  ),
];

const BY_PATH: ReadonlyMap<string, Resource> = new Map(
  BUILT_IN.map((resource) => [`${apiVersionOf(resource)}/${resource.plural}`, resource]),
);
const BY_ID: ReadonlyMap<string, Resource> = new Map(BUILT_IN.map((resource) => [resource.id, resource]));

/** The id under which CustomResourceDefinitions are stored. */
export const CRDS = 'customresourcedefinitions.apiextensions.k8s.io';

/** The resource served under a group, version and plural name. */
export function findResource(world: World, group: string, version: string, plural: string): Resource | undefined {
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const fixed = BY_PATH.get(`${apiVersion}/${plural}`);
  if (fixed !== undefined) return fixed;
  const definition = world.store.get(CRDS, `${plural}.${group}`);
  if (definition === undefined) return undefined;
  return customResource(definition, version);
}

/** The built-in resource of an id, or the storage version of a custom one. */
export function resourceById(world: World, id: string): Resource | undefined {
  const fixed = BY_ID.get(id);
  if (fixed !== undefined) return fixed;
  const definition = world.store.get(CRDS, id);
  return definition === undefined ? undefined : customResource(definition, undefined);
}

/** Every resource served, built-in ones first; a custom resource once for each served version. */
export function allResources(world: World): readonly Resource[] {
  return [...BUILT_IN, ...[...world.store.list(CRDS)].flatMap(customVersions)];
}

/** The built-in resource of an id, which must be in the table. */
export function builtIn(id: string): Resource {
  const resource = BY_ID.get(id);
  if (resource === undefined) throw new Error(`sim: there is no built-in resource ${id}`);
  return resource;
}
