/** Caches to world: everything a pass of one InferenceService looks at, without I/O. */
import { annotation, label } from '@omenative/api';
import { type Caches, index } from '../caches.js';
import type { OperatorSettings } from '../config/settings.js';
import { parseCount } from '../shared/json.js';
import type { Catalog } from './lookup.js';
import type { ServiceWorld } from './render.js';
import { inferenceServiceOf } from './service-record.js';

export interface ObserveContext {
  readonly caches: Caches;
  readonly settings: OperatorSettings;
  readonly quotaResources: ServiceWorld['quotaResources'];
}

/** The world of the InferenceService `key`, `namespace/name`; undefined when the cache has none of that name. */
export function observe({ caches, settings, quotaResources }: ObserveContext, key: string): ServiceWorld | undefined {
  const record = caches.inferenceServices.store.get(key);
  if (record === undefined) return undefined;
  const service = inferenceServiceOf(record);
  return {
    service,
    catalog: catalogOf(caches),
    replicas: caches.replicas.store.byIndex(index.owner, key).filter((replica) => replica.parentName !== ''),
    replicaNamed: (name) => caches.replicas.store.get(`${service.meta.namespace}/${name}`),
    services: caches.services.store.byIndex(index.owner, key).filter((item) => !item.isHeadless),
    podHashes: (replicaUid) => podHashes(caches, replicaUid),
    settings,
    quotaResources,
  };
}

/**
 * Whether a replica shows that a later version of the service was acted on than the cache holds: then the cache is behind,
 * and what it says would undo what was done.
 */
export function isBehind(world: ServiceWorld): boolean {
  return world.replicas.some(
    (replica) =>
      replica.meta.controller.uid === world.service.meta.uid &&
      (parseCount(replica.meta.annotations[annotation.parentGeneration]) ?? 0) > world.service.generation,
  );
}

function catalogOf(caches: Caches): Catalog {
  return {
    servingRuntime: (namespace, name) => caches.servingRuntimes.store.get(`${namespace}/${name}`),
    clusterServingRuntime: (name) => caches.clusterServingRuntimes.store.get(name),
    baseModel: (namespace, name) => caches.baseModels.store.get(`${namespace}/${name}`),
    clusterBaseModel: (name) => caches.clusterBaseModels.store.get(name),
  };
}

function podHashes(caches: Caches, replicaUid: string): ReadonlySet<string> {
  const hashes = new Set<string>();
  for (const pod of caches.pods.store.byIndex(index.controller, replicaUid)) {
    hashes.add(pod.meta.labels[label.revisionHash] ?? '');
  }
  hashes.delete('');
  return hashes;
}
