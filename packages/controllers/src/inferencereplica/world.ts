/** Looks a replica's world up in the shared caches. */
import { label } from '@omenative/api';
import { type Caches, index } from '../caches.js';
import type { ReplicaWorld } from './observe.js';
import type { ReplicaRecord } from './replica-record.js';

export function worldOf(caches: Caches, replica: ReplicaRecord): ReplicaWorld {
  const { namespace, uid } = replica.meta;
  const services = caches.services.store;
  return {
    replica,
    pods: caches.pods.store.byIndex(index.controller, uid),
    services: [
      ...services.byIndex(index.owner, `${namespace}/${replica.owner}`),
      ...services.byIndex(index.owner, `${namespace}/`),
    ].filter((service) => mayConcern(service.selector, replica)),
    slicesOf: (service) => caches.slices.store.byIndex(index.service, `${namespace}/${service}`),
    revisions: caches.revisions.store.byIndex(index.controller, uid),
    isCordoned: (node) => caches.nodes.store.get(node)?.taking === 'no new pods',
    wasSeenDeleted: (pod) => caches.pods.store.deletedWithProof(`${namespace}/${pod}`) !== undefined,
  };
}

/** A Service of a sibling component has nothing to say about this one's pods. */
function mayConcern(selector: Readonly<Record<string, string>>, replica: ReplicaRecord): boolean {
  const component = selector[label.component];
  return component === undefined || component === replica.spec['component'];
}
