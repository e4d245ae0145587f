/** What a pod names that must exist before it is created: its service account and its priority class. */

import { asObject, asText, type JsonObject } from '../../base/json.js';
import { objectKey } from '../../base/object.js';
import type { World } from '../../base/world.js';
import { forbidden } from '../errors.js';

const PODS = { group: '', plural: 'pods' };

/** Classes every cluster has. */
const SYSTEM_CLASSES: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

/** Throws 403 when the pod's service account does not exist. For the default one the server waits until it is there. */
export function checkAccount(world: World, draft: JsonObject): void {
  const { name, namespace } = asObject(draft['metadata']);
  const account = asText(asObject(draft['spec'])['serviceAccountName']);
  if (account === '' || account === 'default') return;
  if (world.store.get('serviceaccounts', objectKey(asText(namespace), account)) !== undefined) return;
  const why = `error looking up service account ${asText(namespace)}/${account}: serviceaccount "${account}" not found`;
  throw forbidden(PODS, asText(name), why);
}

/** The priority a pod is given by its class. Throws 403 when the class does not exist. */
export function priorityOf(world: World, draft: JsonObject): JsonObject {
  const spec = asObject(draft['spec']);
  const className = asText(spec['priorityClassName']);
  if (className === '') return { preemptionPolicy: 'PreemptLowerPriority', priority: spec['priority'] ?? 0 };
  const known = SYSTEM_CLASSES[className];
  if (known !== undefined) return { preemptionPolicy: 'PreemptLowerPriority', priority: known };
  const found = world.store.get('priorityclasses.scheduling.k8s.io', className);
  if (found === undefined) {
    const name = asText(asObject(draft['metadata'])['name']);
    throw forbidden(PODS, name, `no PriorityClass with name ${className} was found`);
  }
  return {
    preemptionPolicy: asText(found['preemptionPolicy']) || 'PreemptLowerPriority',
    priority: found['value'],
  };
}
