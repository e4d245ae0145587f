/** Quantities, and what a pod asks for. */

import { asList, asObject, asText, equal, isObject, type JsonObject } from '../../base/json.js';

const SUFFIXES: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** The number a Kubernetes quantity means: `500m` is 0.5, `1Gi` is 2^30. Zero when it is no quantity. */
export function quantity(value: unknown): number {
  if (typeof value === 'number') return value;
  const match = /^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([A-Za-z]*)$/.exec(asText(value));
  if (match === null) return 0;
  return Number(match[1]) * (SUFFIXES[match[2] ?? ''] ?? 0);
}

/** Amounts by resource name: `cpu` in cores, `memory` in bytes, others in units. */
export type Amounts = ReadonlyMap<string, number>;

/** What the scheduler counts for a pod: the sum of its containers, or its largest init container. */
export function podRequests(spec: JsonObject): Amounts {
  const total = new Map<string, number>();
  for (const container of asList(spec['containers'])) {
    for (const [name, amount] of containerAmounts(container, 'requests')) {
      total.set(name, (total.get(name) ?? 0) + amount);
    }
  }
  for (const container of asList(spec['initContainers'])) {
    for (const [name, amount] of containerAmounts(container, 'requests')) {
      total.set(name, Math.max(total.get(name) ?? 0, amount));
    }
  }
  return total;
}

/** The sum of the limits of a pod's containers. */
export function podLimits(spec: JsonObject): Amounts {
  const total = new Map<string, number>();
  for (const container of asList(spec['containers'])) {
    for (const [name, amount] of containerAmounts(container, 'limits')) {
      total.set(name, (total.get(name) ?? 0) + amount);
    }
  }
  return total;
}

function containerAmounts(container: unknown, what: 'requests' | 'limits'): readonly (readonly [string, number])[] {
  const amounts = asObject(asObject(asObject(container)['resources'])[what]);
  return Object.entries(amounts).map(([name, amount]) => [name, quantity(amount)]);
}

/** `Guaranteed`, `Burstable` or `BestEffort`. */
export function qosClass(spec: JsonObject): string {
  const containers = [...asList(spec['containers']), ...asList(spec['initContainers'])];
  const resources = containers.map((container) => asObject(asObject(container)['resources']));
  if (!resources.some((one) => namesCompute(one['requests']) || namesCompute(one['limits']))) return 'BestEffort';
  const guaranteed = resources.every((one) => {
    const limits = asObject(one['limits']);
    const requests = asObject(one['requests']);
    return ['cpu', 'memory'].every(
      (key) => limits[key] !== undefined && equal(limits[key], requests[key] ?? limits[key]),
    );
  });
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

function namesCompute(amounts: unknown): boolean {
  return isObject(amounts) && ('cpu' in amounts || 'memory' in amounts);
}
