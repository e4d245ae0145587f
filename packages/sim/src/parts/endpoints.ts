/** EndpointSlices: for each Service with a selector, the pods behind it, a hundred to a slice. */

import { asList, asObject, asText, equal, isObject } from '../base/json.js';
import { type KubeObject, keyOf, objectKey } from '../base/object.js';
import type { Change } from '../base/store.js';
import type { Part, World } from '../base/world.js';
import { createObject, store } from './act.js';
import { isReady, isTerminal, type Pod, type Service } from './model.js';

const SLICES = 'endpointslices.discovery.k8s.io';
const ME = 'endpointslice-controller.k8s.io';
const PER_SLICE = 100;
const SERVICE_NAME = 'kubernetes.io/service-name';

interface Endpoint {
  readonly addresses: readonly string[];
  readonly [key: string]: unknown;
}

export const endpointSlices: Part = {
  handlers: {
    'endpoints.sync': (world: World, args: { readonly key: string }) => {
      world.notes.delete(`endpoints/${args.key}`);
      sync(world, args.key);
    },
  },

  onChange(world: World, change: Change): void {
    if (change.resource === 'services') syncSoon(world, keyOf(change.object));
    else if (change.resource === SLICES) sliceChanged(world, change);
    else if (change.resource === 'pods' && concerns(change)) {
      for (const service of world.store.list('services') as Iterable<Service>) {
        const { namespace } = service.metadata;
        if (namespace !== change.object.metadata.namespace) continue;
        const touched =
          selects(service, change.object) || (change.previous !== undefined && selects(service, change.previous));
        if (touched) syncSoon(world, keyOf(service));
      }
    }
  },
};

/** A slice that someone else deleted or changed is put right. */
function sliceChanged(world: World, change: Change): void {
  const name = change.object.metadata.labels?.[SERVICE_NAME];
  if (name !== undefined && change.type !== 'ADDED') syncSoon(world, objectKey(change.object.metadata.namespace, name));
}

function concerns(change: Change): boolean {
  if (change.type !== 'MODIFIED') return true;
  const pod = change.object as Pod;
  const before = change.previous as Pod;
  return (
    isReady(pod) !== isReady(before) ||
    isTerminal(pod) !== isTerminal(before) ||
    pod.status.podIP !== before.status.podIP ||
    pod.metadata.deletionTimestamp !== before.metadata.deletionTimestamp ||
    !equal(pod.metadata.labels, before.metadata.labels)
  );
}

function selects(service: Service, pod: KubeObject): boolean {
  const selector = Object.entries(service.spec.selector ?? {});
  const labels = pod.metadata.labels ?? {};
  return selector.length > 0 && selector.every(([key, value]) => labels[key] === value);
}

// While a sync is due, more changes join it.
function syncSoon(world: World, key: string): void {
  const note = `endpoints/${key}`;
  if (world.notes.has(note)) return;
  world.notes.set(note, true);
  world.after(world.options.endpointsLagMs, 'endpoints.sync', { key });
}

function sync(world: World, key: string): void {
  const service = world.store.get('services', key) as Service | undefined;
  if (service === undefined || Object.keys(service.spec.selector ?? {}).length === 0) return;
  if (service.spec.type === 'ExternalName' || service.metadata.deletionTimestamp !== undefined) return;
  const slices = slicesOf(world, service);
  const labels = sliceLabels(service);
  const wanted = wantedEndpoints(world, service);
  // Ports by name may differ from pod to pod; each set of ports gets slices of its own.
  const groups = new Map<string, { readonly ports: readonly unknown[]; readonly endpoints: Endpoint[] }>();
  for (const { endpoint, ports } of wanted) {
    const name = JSON.stringify(ports);
    const group = groups.get(name) ?? { ports, endpoints: [] };
    group.endpoints.push(endpoint);
    groups.set(name, group);
  }
  // Without pods there is one slice without endpoints, so that there is always something to watch.
  if (groups.size === 0) groups.set('[]', { ports: [], endpoints: [] });
  const rest = slices.filter((slice) => !groups.has(JSON.stringify(slice['ports'] ?? [])));
  for (const [name, group] of groups) {
    const own = slices.filter((slice) => JSON.stringify(slice['ports'] ?? []) === name);
    // A slice that nothing else needs, the placeholder above all, is taken into use before a new one is made.
    const spare = own.length === 0 ? rest.splice(0, 1) : [];
    reconcile(world, service, [...own, ...spare], group.endpoints, group.ports, labels);
  }
  for (const slice of rest) world.commit(SLICES, undefined, slice, ME);
}

function slicesOf(world: World, service: Service): readonly KubeObject[] {
  const { name, namespace } = service.metadata;
  const slices = [...world.store.list(SLICES)].filter((slice) => {
    const { labels = {} } = slice.metadata;
    return (
      slice.metadata.namespace === namespace &&
      labels[SERVICE_NAME] === name &&
      labels['endpointslice.kubernetes.io/managed-by'] === ME
    );
  });
  return slices.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

function sliceLabels(service: Service): Readonly<Record<string, string>> {
  const { labels = {}, name } = service.metadata;
  const { clusterIP } = service.spec;
  const headless = clusterIP === 'None' || clusterIP === undefined || clusterIP === '';
  return {
    ...labels,
    ...(headless ? { 'service.kubernetes.io/headless': '' } : {}),
    [SERVICE_NAME]: name,
    'endpointslice.kubernetes.io/managed-by': ME,
  };
}

function wantedEndpoints(
  world: World,
  service: Service,
): readonly { readonly endpoint: Endpoint; readonly ports: readonly unknown[] }[] {
  const pods = ([...world.store.list('pods')] as Pod[]).filter(
    (pod) => pod.metadata.namespace === service.metadata.namespace && selects(service, pod),
  );
  return pods
    .filter((pod) => !isTerminal(pod) && pod.status.podIP !== undefined)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .map((pod) => ({ endpoint: endpointOf(pod, service), ports: portsOf(pod, service) }));
}

function endpointOf(pod: Pod, service: Service): Endpoint {
  const serving = isReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const ready = service.spec.publishNotReadyAddresses === true || (serving && !terminating);
  const { hostname, subdomain, nodeName } = pod.spec;
  const named = hostname !== undefined && hostname !== '' && subdomain === service.metadata.name;
  return {
    addresses: [pod.status.podIP ?? ''],
    conditions: { ready, serving, terminating },
    ...(named ? { hostname } : {}),
    nodeName,
    targetRef: { kind: 'Pod', namespace: pod.metadata.namespace, name: pod.metadata.name, uid: pod.metadata.uid },
  };
}

function portsOf(pod: Pod, service: Service): readonly unknown[] {
  return (service.spec.ports ?? []).flatMap((port) => {
    const target = port.targetPort ?? port.port;
    const named = pod.spec.containers.flatMap((one) => one.ports ?? []).find((one) => one.name === target);
    const number = typeof target === 'number' ? target : named?.containerPort;
    if (number === undefined) return [];
    const app = port.appProtocol === undefined ? {} : { appProtocol: port.appProtocol };
    return [{ name: port.name ?? '', port: number, protocol: port.protocol ?? 'TCP', ...app }];
  });
}

/** Keeps endpoints in the slices they are in, puts new ones where there is room, and drops slices left empty. */
function reconcile(
  world: World,
  service: Service,
  slices: readonly KubeObject[],
  wanted: readonly Endpoint[],
  ports: readonly unknown[],
  labels: Readonly<Record<string, string>>,
): void {
  const left = new Map(wanted.map((endpoint) => [uidOf(endpoint), endpoint]));
  const plans = slices.map((slice) => {
    const kept: Endpoint[] = [];
    for (const old of asList(slice['endpoints']).filter(isObject)) {
      const now = left.get(uidOf(old));
      if (now === undefined) continue;
      kept.push(now);
      left.delete(uidOf(old));
    }
    return { slice, endpoints: kept };
  });
  for (const plan of plans) {
    for (const [uid, endpoint] of left) {
      if (plan.endpoints.length >= PER_SLICE) break;
      plan.endpoints.push(endpoint);
      left.delete(uid);
    }
  }
  plans.forEach(({ slice, endpoints }, i) => {
    if (endpoints.length === 0 && (i > 0 || wanted.length > 0)) world.commit(SLICES, undefined, slice, ME);
    else writeSlice(world, slice, endpoints, ports, labels);
  });
  const rest = [...left.values()];
  if (plans.length === 0 && rest.length === 0) createSlice(world, service, [], ports, labels);
  for (let i = 0; i < rest.length; i += PER_SLICE) {
    createSlice(world, service, rest.slice(i, i + PER_SLICE), ports, labels);
  }
}

function uidOf(endpoint: Readonly<Record<string, unknown>>): string {
  return asText(asObject(endpoint['targetRef'])['uid']);
}

function writeSlice(
  world: World,
  slice: KubeObject,
  endpoints: readonly Endpoint[],
  ports: readonly unknown[],
  labels: Readonly<Record<string, string>>,
): void {
  if (equal(slice['endpoints'], endpoints) && equal(slice.metadata.labels, labels) && equal(slice['ports'], ports))
    return;
  const generation = (slice.metadata.generation ?? 0) + 1;
  store(world, SLICES, { ...slice, metadata: { ...slice.metadata, labels, generation }, endpoints, ports }, slice, ME);
}

function createSlice(
  world: World,
  service: Service,
  endpoints: readonly Endpoint[],
  ports: readonly unknown[],
  labels: Readonly<Record<string, string>>,
): void {
  const { name, namespace, uid } = service.metadata;
  const suffix = world.random.next().toString(36).padStart(7, '0').slice(-5);
  const owner = { apiVersion: 'v1', kind: 'Service', name, uid, controller: true, blockOwnerDeletion: true };
  const draft = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${name}-${suffix}`, generateName: `${name}-`, namespace, labels, ownerReferences: [owner] },
    addressType: 'IPv4',
    endpoints,
    ports,
  };
  createObject(world, SLICES, draft as unknown as KubeObject, ME);
}
