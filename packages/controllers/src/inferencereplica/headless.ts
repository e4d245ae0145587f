/** The headless Service that gives each pod of a component its DNS name, ready or not. */
import { headlessServiceName, selectorLabels } from '@omenative/api';
import type { PlanSpec, ReplicaHead } from '@omenative/engine';
import { type JsonRecord, sameJson } from '../shared/json.js';
import { ownerReference } from './owner.js';
import type { ServiceRecord } from './routing.js';

type Naming = Pick<PlanSpec, 'owner' | 'component'>;

/**
 * It is there for names, and nobody sends requests to it: the port is the one that discards what it gets. It has one at all
 * because Kubernetes before 1.36 takes the slices of a Service without ports for foreign at every look and writes all of
 * their endpoints anew, elsewhere each time (kubernetes/kubernetes#133474): with more than one slice, pods that are in
 * rotation seem to leave it, again and again, and the API server never rests.
 */
const ports = [{ name: 'discard', port: 9, protocol: 'TCP', targetPort: 9 }] as const;

/** The Service as it is created. Addresses that are not ready are published: a gang finds its leader before anything is. */
export function headlessService(replica: ReplicaHead, spec: Naming): JsonRecord {
  const labels = selectorLabels(spec.owner, spec.component);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: headlessServiceName(spec.owner, spec.component),
      namespace: replica.namespace,
      labels,
      ownerReferences: [ownerReference(replica)],
    },
    spec: { clusterIP: 'None', publishNotReadyAddresses: true, selector: labels, ports },
  };
}

/** Whether a Service does what the headless Service is for. */
export function isWanted(service: ServiceRecord, spec: Naming): boolean {
  const isPublishing = service.publishNotReadyAddresses && service.hasPorts;
  return isPublishing && sameJson(service.selector, selectorLabels(spec.owner, spec.component));
}

/** The merge patch that puts drift right. `clusterIP` can't be changed and is left alone, and so are ports of somebody's. */
export function headlessRepair(service: ServiceRecord, spec: Naming): JsonRecord {
  const wanted = selectorLabels(spec.owner, spec.component);
  const surplus = Object.fromEntries(
    Object.keys(service.selector)
      .filter((key) => wanted[key] === undefined)
      .map((key) => [key, null]),
  );
  return {
    metadata: { uid: service.meta.uid, labels: wanted },
    spec: {
      publishNotReadyAddresses: true,
      selector: { ...surplus, ...wanted },
      ...(service.hasPorts ? {} : { ports }),
    },
  };
}
