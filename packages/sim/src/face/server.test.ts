import { afterEach, describe, expect, it } from '@jest/globals';
import type { Cluster } from '../cluster.js';
import { newCluster, PODS, podBody } from '../testing/fixtures.js';
import { SimServer } from './server.js';

/** Real time that a test moves by hand. */
class HandClock {
  #nowMs = 0;
  #timers: { readonly atMs: number; readonly fire: () => void }[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  setTimer(delayMs: number, fire: () => void): { cancel(): void } {
    const timer = { atMs: this.#nowMs + delayMs, fire };
    this.#timers.push(timer);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((one) => one !== timer);
      },
    };
  }

  pass(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const next = this.#timers.filter((one) => one.atMs <= untilMs).toSorted((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((one) => one !== next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.fire();
    }
    this.#nowMs = untilMs;
  }
}

const servers: SimServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function serve(speed = 1): Promise<{ cluster: Cluster; clock: HandClock; url: string }> {
  const cluster = newCluster();
  const clock = new HandClock();
  const server = new SimServer({ cluster, runtime: clock, speed });
  servers.push(server);
  return { cluster, clock, url: await server.start() };
}

function post(url: string, body: unknown): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
}

describe('the server', () => {
  it('listens on loopback and answers as the cluster does', async () => {
    const { url } = await serve();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await post(url + PODS, podBody('a'))).status).toBe(201);
    const again = await post(url + PODS, podBody('a'));
    expect(again.status).toBe(409);
    expect(await again.json()).toMatchObject({ reason: 'AlreadyExists' });
  });

  it('lets virtual time follow the wall clock, at its speed', async () => {
    const { cluster, clock, url } = await serve(10);
    const fromMs = cluster.nowMs;
    await post(url + PODS, podBody('a'));
    clock.pass(1000);
    expect(cluster.nowMs - fromMs).toBe(10_000);
    expect(cluster.object('pods', 'default/a')?.['status']).toMatchObject({ phase: 'Running' });
  });

  it('streams events as they come, as tables where tables are asked for', async () => {
    const { cluster, url } = await serve();
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
    const response = await fetch(`${url}${PODS}?watch=true&resourceVersion=${cluster.resourceVersion}`, { headers });
    const reader = response.body?.getReader();
    await post(url + PODS, podBody('a', { schedulerName: 'nobody' }));
    const { value } = (await reader?.read()) ?? {};
    await reader?.cancel();
    expect(JSON.parse(new TextDecoder().decode(value))).toMatchObject({
      type: 'ADDED',
      object: { kind: 'Table', rows: [{ cells: expect.arrayContaining(['a', '0/1', 'Pending']) }] },
    });
  });

  it('ends a stream at its timeout', async () => {
    const { clock, url } = await serve();
    const response = await fetch(`${url}${PODS}?watch=true&resourceVersion=0&timeoutSeconds=5`);
    clock.pass(6000);
    expect(await response.text()).toBe('');
  });

  it.each(['log', 'exec', 'portforward', 'attach'])('says of %s that it is simulated', async (what) => {
    const { url } = await serve();
    await post(url + PODS, podBody('a'));
    const response = await fetch(`${url}${PODS}/a/${what}`);
    expect(response.status).toBe(501);
    expect(await response.json()).toMatchObject({ message: expect.stringContaining('simulated') });
  });

  it('reads the protobuf that Go clients send for a namespace', async () => {
    const { cluster, url } = await serve();
    // `kubectl create namespace foo`, as it goes over the wire.
    const hex =
      '6b3873000a0f0a02763112094e616d657370616365121b0a130a03666f6f12001a0022002a0032003800420012001a020a001a002200';
    const response = await fetch(`${url}/api/v1/namespaces`, {
      method: 'POST',
      headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
      body: Buffer.from(hex, 'hex'),
    });
    expect(response.status).toBe(201);
    expect(cluster.object('namespaces', 'foo')).toMatchObject({ kind: 'Namespace', status: { phase: 'Active' } });
  });

  it('refuses what is not JSON', async () => {
    const { url } = await serve();
    const response = await fetch(url + PODS, { method: 'POST', body: 'kind: Pod' });
    expect(response.status).toBe(415);
  });

  it('describes itself: health, version, groups, resources, schemas', async () => {
    const { url } = await serve();
    const get = async (path: string): Promise<unknown> => (await fetch(url + path)).json();
    expect(await (await fetch(`${url}/readyz`)).text()).toBe('ok');
    expect(await get('/version')).toMatchObject({ gitVersion: expect.stringContaining('simulated') });
    expect(await get('/api')).toMatchObject({ versions: ['v1'] });
    expect(await get('/apis')).toMatchObject({
      groups: expect.arrayContaining([expect.objectContaining({ name: 'apps' })]),
    });
    expect(await get('/api/v1')).toMatchObject({
      resources: expect.arrayContaining([expect.objectContaining({ name: 'pods', kind: 'Pod', shortNames: ['po'] })]),
    });
    expect(await get('/openapi/v3')).toMatchObject({
      paths: { 'api/v1': { serverRelativeURL: '/openapi/v3/api/v1' } },
    });
    expect((await fetch(`${url}/apis/none/v1`)).status).toBe(404);
  });
});
