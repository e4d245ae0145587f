/** Which InferenceServices a change concerns. */
import { components, label } from '@omenative/api';
import type { Caches } from '../caches.js';
import type { PodRecord } from '../inferencereplica/pod-view.js';
import type { ReplicaRecord } from '../inferencereplica/replica-record.js';
import type { ServiceRecord } from '../inferencereplica/routing.js';
import { asRecord, asText } from '../shared/json.js';
import type { ObjectRecord } from '../shared/object-record.js';

/** Keys are `namespace/name` of InferenceServices. */
type Keys = readonly string[];

/** The parent, and the InferenceService that would project a replica of that name and finds it taken. */
export function keysOfReplica(replica: ReplicaRecord): Keys {
  const { namespace, name } = replica.meta;
  const keys = replica.parentName === '' ? [] : [`${namespace}/${replica.parentName}`];
  for (const component of components) {
    if (name.endsWith(`-${component}`)) keys.push(`${namespace}/${name.slice(0, -component.length - 1)}`);
  }
  return [...new Set(keys)];
}

export function keysOfService(service: ServiceRecord): Keys {
  const { namespace, labels } = service.meta;
  const owner = service.selector[label.inferenceService] ?? labels[label.inferenceService];
  return owner === undefined ? [] : [`${namespace}/${owner}`];
}

/** A pod matters when its revision comes or goes with it: then a revision's Service does. */
export function keysOfPod(change: { readonly old?: PodRecord; readonly now?: PodRecord }): Keys {
  const pod = change.now ?? change.old;
  const owner = pod?.meta.labels[label.inferenceService];
  if (pod === undefined || owner === undefined || hashOf(change.old) === hashOf(change.now)) return [];
  return [`${pod.meta.namespace}/${owner}`];
}

function hashOf(pod: PodRecord | undefined): string {
  return pod?.meta.labels[label.revisionHash] ?? '';
}

/** The InferenceServices that name a runtime or a model; there are few, and such changes are rare. */
export function keysNaming(
  caches: Pick<Caches, 'inferenceServices'>,
  member: 'runtime' | 'model',
  named: ObjectRecord,
): Keys {
  const keys: string[] = [];
  for (const record of caches.inferenceServices.store.values()) {
    const reference = asRecord(asRecord(record.raw['spec'])[member]);
    const isInReach = named.meta.namespace === '' || named.meta.namespace === record.meta.namespace;
    if (asText(reference['name']) === named.meta.name && isInReach)
      keys.push(`${record.meta.namespace}/${record.meta.name}`);
  }
  return keys;
}
