/** Resource quotas: what counts, what is used, and the refusal of what would go over. */

import { asObject, asText, equal, type JsonObject } from '../base/json.js';
import type { KubeObject } from '../base/object.js';
import type { World } from '../base/world.js';
import { type Call, isDryRun } from './call.js';
import { forbidden } from './errors.js';
import { podLimits, podRequests, quantity } from './kinds/pod-resources.js';
import type { Resource } from './resource.js';

type Usage = ReadonlyMap<string, number>;

/** Books a creation on every quota of the namespace. Throws 403 when one would be exceeded. */
export function chargeQuota(call: Call, object: KubeObject): void {
  const { world, resource } = call;
  const namespace = object.metadata.namespace ?? '';
  const asked = usageOf(resource, object);
  for (const quota of quotasOf(world, namespace)) {
    const hard = asObject(asObject(quota['spec'])['hard']);
    const used = asObject(asObject(quota['status'])['used']);
    const counted = [...asked].filter(([name]) => hard[name] !== undefined);
    const over = counted.filter(([name, amount]) => quantity(used[name]) + amount > quantity(hard[name]));
    if (over.length > 0) {
      const list = (values: (name: string, amount: number) => unknown): string =>
        over.map(([name, amount]) => `${name}=${String(values(name, amount))}`).join(',');
      const requested = list((name, amount) => written(name, amount));
      const now = list((name) => used[name] ?? 0);
      const limited = list((name) => hard[name]);
      const why = `exceeded quota: ${quota.metadata.name}, requested: ${requested}, used: ${now}, limited: ${limited}`;
      throw forbidden(resource, object.metadata.name, why);
    }
    if (counted.length === 0 || isDryRun(call)) continue;
    const next = { ...used };
    for (const [name, amount] of counted) next[name] = written(name, quantity(used[name]) + amount);
    writeUsage(world, quota, next, 'kube-apiserver');
  }
}

/** Recounts a quota from the objects that exist. */
export function recountQuota(world: World, quota: KubeObject, resources: readonly Resource[]): void {
  const hard = asObject(asObject(quota['spec'])['hard']);
  const sums = new Map(Object.keys(hard).map((name) => [name, 0]));
  for (const resource of resources) {
    for (const object of world.store.list(resource.id)) {
      if (object.metadata.namespace !== quota.metadata.namespace) continue;
      for (const [name, amount] of usageOf(resource, object)) {
        const sum = sums.get(name);
        if (sum !== undefined) sums.set(name, sum + amount);
      }
    }
  }
  writeUsage(world, quota, Object.fromEntries([...sums].map(([name, sum]) => [name, written(name, sum)])), 'quota');
}

/** The quotas of a namespace, by name. */
export function quotasOf(world: World, namespace: string): readonly KubeObject[] {
  const quotas = [...world.store.list('resourcequotas')].filter((quota) => quota.metadata.namespace === namespace);
  return quotas.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

function writeUsage(world: World, quota: KubeObject, used: JsonObject, by: string): void {
  const status = { hard: asObject(quota['spec'])['hard'], used };
  if (equal(quota['status'], status)) return;
  world.commit('resourcequotas', { ...quota, status }, quota, by);
}

function usageOf(resource: Resource, object: KubeObject): Usage {
  const usage = new Map<string, number>([[`count/${resource.id}`, 1]]);
  if (resource.id !== 'pods') {
    usage.set(resource.plural, 1);
    return usage;
  }
  // A pod that has ended uses nothing; one that is being deleted counts until it is gone.
  const phase = asText(asObject(object['status'])['phase']);
  if (phase === 'Succeeded' || phase === 'Failed') return usage;
  usage.set('pods', 1);
  const spec = asObject(object['spec']);
  for (const [name, amount] of podRequests(spec)) {
    usage.set(`requests.${name}`, amount);
    if (name === 'cpu' || name === 'memory') usage.set(name, amount);
  }
  for (const [name, amount] of podLimits(spec)) usage.set(`limits.${name}`, amount);
  return usage;
}

function written(name: string, amount: number): string {
  if (name.endsWith('cpu') && !Number.isInteger(amount)) return `${Math.round(amount * 1000)}m`;
  if (name.endsWith('memory') && amount % 2 ** 20 === 0 && amount > 0) return `${amount / 2 ** 20}Mi`;
  return String(amount);
}
