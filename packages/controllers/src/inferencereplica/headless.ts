/** The headless Service that gives each pod of a component its DNS name, ready or not. */
import { headlessServiceName, selectorLabels } from '@omenative/api';
import type { PlanSpec, ReplicaHead } from '@omenative/engine';
import { type JsonRecord, sameJson } from '../shared/json.js';
import { ownerReference } from './owner.js';
import type { ServiceRecord } from './routing.js';

type Naming = Pick<PlanSpec, 'owner' | 'component'>;

/**
 * The Service as it is created. It has no ports: it is there for names, and a request Service is another object. Addresses
 * that are not ready are published, since a gang finds its leader before anything is ready.
 */
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
    spec: { clusterIP: 'None', publishNotReadyAddresses: true, selector: labels },
  };
}

/** Whether a Service does what the headless Service is for. */
export function isWanted(service: ServiceRecord, spec: Naming): boolean {
  return service.publishNotReadyAddresses && sameJson(service.selector, selectorLabels(spec.owner, spec.component));
}

/** The merge patch that puts drift right. `clusterIP` can't be changed and is left alone. */
export function headlessRepair(service: ServiceRecord, spec: Naming): JsonRecord {
  const wanted = selectorLabels(spec.owner, spec.component);
  const surplus = Object.fromEntries(
    Object.keys(service.selector)
      .filter((key) => wanted[key] === undefined)
      .map((key) => [key, null]),
  );
  return {
    metadata: { uid: service.meta.uid, labels: wanted },
    spec: { publishNotReadyAddresses: true, selector: { ...surplus, ...wanted } },
  };
}
