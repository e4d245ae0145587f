/** Traffic: a copy of the endpoints that lags behind the slices, and requests that fail when nobody is there. */

import { asList, asObject, asText, freeze, isObject } from '../base/json.js';
import { objectKey } from '../base/object.js';
import type { Change } from '../base/store.js';
import type { Part, World } from '../base/world.js';
import { runOf } from './kubelet/run.js';
import { nodeState } from './node-state.js';

const SLICES = 'endpointslices.discovery.k8s.io';
const SERVICE_NAME = 'kubernetes.io/service-name';

interface Backend {
  readonly uid: string;
  readonly pod: string;
}

/** What came of one request. */
export type ProbeResult =
  | { readonly ok: true; readonly pod: string }
  /** `no endpoints`: nobody to send it to. `refused`: the container there has ended, is not up yet, or its node is down. */
  | { readonly ok: false; readonly why: 'no endpoints' | 'refused'; readonly pod?: string };

export const proxy: Part = {
  handlers: {
    'proxy.learn': (world: World, args: { readonly service: string; readonly backends: readonly Backend[] }) => {
      world.notes.set(`proxy/${args.service}`, args.backends);
    },
  },

  onChange(world: World, change: Change): void {
    if (change.resource !== SLICES) return;
    const { labels = {}, namespace } = change.object.metadata;
    const name = labels[SERVICE_NAME];
    if (name === undefined) return;
    const service = objectKey(namespace, name);
    const atMs = learnTime(world, service);
    world.schedule(atMs, 'proxy.learn', { service, backends: backendsOf(world, service) });
  },
};

// News of one Service arrives in order.
function learnTime(world: World, service: string): number {
  const note = `proxy-last/${service}`;
  const last = world.notes.get(note);
  const atMs = Math.max(
    typeof last === 'number' ? last + 1 : 0,
    world.nowMs + world.random.within(world.options.proxyLagMs),
  );
  world.notes.set(note, atMs);
  return atMs;
}

// Traffic goes to ready endpoints; when there are none, to those that still serve while they terminate.
function backendsOf(world: World, service: string): readonly Backend[] {
  const [namespace = '', name = ''] = service.split('/');
  const ready: Backend[] = [];
  const serving: Backend[] = [];
  for (const slice of world.store.list(SLICES)) {
    if (slice.metadata.namespace !== namespace || slice.metadata.labels?.[SERVICE_NAME] !== name) continue;
    for (const endpoint of asList(slice['endpoints']).filter(isObject)) {
      const target = asObject(endpoint['targetRef']);
      const backend: Backend = { uid: asText(target['uid']), pod: asText(target['name']) };
      const conditions = asObject(endpoint['conditions']);
      if (conditions['ready'] === true) ready.push(backend);
      else if (conditions['serving'] === true) serving.push(backend);
    }
  }
  return freeze(ready.length > 0 ? ready : serving);
}

/** Sends one request to a Service (`namespace/name`). */
export function probe(world: World, service: string): ProbeResult {
  const backends = (world.notes.get(`proxy/${service}`) as readonly Backend[] | undefined) ?? [];
  const backend = backends[world.random.next() % Math.max(1, backends.length)];
  if (backend === undefined) return { ok: false, why: 'no endpoints' };
  const run = runOf(world, backend.uid);
  const mains = run?.containers.filter((one) => one.role === 'main') ?? [];
  const up =
    run !== undefined && nodeState(world, run.node) !== 'crashed' && mains.every((one) => one.state.is === 'running');
  return up ? { ok: true, pod: backend.pod } : { ok: false, why: 'refused', pod: backend.pod };
}
