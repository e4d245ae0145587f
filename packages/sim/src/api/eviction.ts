/** Evictions: a delete that disruption budgets may refuse. */

import { asList, asObject, asText, isObject, type JsonObject, wireCopy } from '../base/json.js';
import type { KubeObject } from '../base/object.js';
import type { World } from '../base/world.js';
import type { Call } from './call.js';
import { deleteOptions, remove } from './delete.js';
import { ApiError } from './errors.js';
import { existing } from './replace.js';
import { type LabelSelector, selectorMatches } from './selectors.js';

/** Evicts the pod of the call. Throws 429 when a budget has no room. */
export function evict(call: Call): JsonObject {
  const pod = existing(call);
  for (const budget of call.world.store.list('poddisruptionbudgets.policy')) {
    if (budget.metadata.namespace !== pod.metadata.namespace || !covers(budget, pod)) continue;
    const { healthy, desired } = counts(call.world, budget);
    if (isReady(pod) && healthy <= desired) throw refused(budget, healthy, desired);
  }
  const body = asObject(wireCopy(call.body ?? {}));
  remove(call, deleteOptions({ ...call, body: body['deleteOptions'] ?? {} }));
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
}

function covers(budget: KubeObject, pod: KubeObject): boolean {
  const selector = asObject(asObject(budget['spec'])['selector']) as LabelSelector;
  return selectorMatches(selector, pod.metadata.labels ?? {});
}

/** How many of a budget's pods are healthy, and how many must be. */
function counts(world: World, budget: KubeObject): { readonly healthy: number; readonly desired: number } {
  const { namespace } = budget.metadata;
  const pods = [...world.store.list('pods')].filter(
    (pod) => pod.metadata.namespace === namespace && covers(budget, pod),
  );
  const healthy = pods.filter((pod) => isReady(pod) && pod.metadata.deletionTimestamp === undefined).length;
  const { minAvailable, maxUnavailable } = asObject(budget['spec']);
  if (minAvailable !== undefined) return { healthy, desired: scaled(minAvailable, pods.length) };
  return { healthy, desired: pods.length - scaled(maxUnavailable, pods.length) };
}

function scaled(value: unknown, total: number): number {
  if (typeof value === 'number') return value;
  return Math.ceil((Number.parseInt(asText(value), 10) / 100) * total);
}

function isReady(pod: KubeObject): boolean {
  const conditions = asList(asObject(pod['status'])['conditions']).filter(isObject);
  return conditions.some((condition) => condition['type'] === 'Ready' && condition['status'] === 'True');
}

function refused(budget: KubeObject, healthy: number, desired: number): ApiError {
  const message = `The disruption budget ${budget.metadata.name} needs ${desired} healthy pods and has ${healthy} currently`;
  const causes = [{ reason: 'DisruptionBudget', message }];
  return new ApiError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes,
  });
}
