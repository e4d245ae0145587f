import { describe, expect, it } from '@jest/globals';
import type { Cluster } from './cluster.js';
import { createPod, newCluster, PODS, podNamed, START_MS } from './testing/fixtures.js';

function busyDay(cluster: Cluster): string {
  for (let i = 0; i < 5; i += 1) createPod(cluster, `p${i}`);
  cluster.schedule(cluster.nowMs + 3000, 'nodeStop', { name: 'node-1' });
  cluster.schedule(cluster.nowMs + 90_000, 'nodeStart', { name: 'node-1' });
  cluster.schedule(cluster.nowMs + 5000, 'request', { method: 'DELETE', path: `${PODS}/p0`, user: 'somebody' });
  cluster.runUntil(cluster.nowMs + 600_000);
  return cluster.traceHash;
}

describe('one seed', () => {
  it('gives one history', () => {
    const hashes = [1, 1, 2].map((seed) => busyDay(newCluster({}, seed)));
    expect(hashes[0]).toBe(hashes[1]);
    expect(hashes[0]).not.toBe(hashes[2]);
  });

  it('gives one history on both sides of a fork', () => {
    const cluster = newCluster();
    createPod(cluster, 'a');
    cluster.runUntil(cluster.nowMs + 300);
    const fork = cluster.fork();
    expect(busyDay(fork)).toBe(busyDay(cluster));
  });
});

describe('a fork', () => {
  it('refuses what the cluster refuses', () => {
    const cluster = newCluster();
    cluster.hooks.admit = ({ object }) =>
      object.metadata.name === 'b'
        ? { is: 'denied', policy: 'p', binding: 'p', reason: 'Forbidden', message: 'no' }
        : undefined;
    const statuses = ['a', 'b'].map((name) => createPod(cluster.fork(), name).status);
    expect(statuses).toEqual([201, 403]);
  });

  it('goes its own way', () => {
    const cluster = newCluster();
    createPod(cluster, 'a');
    const fork = cluster.fork();
    createPod(fork, 'b');
    fork.handle({ method: 'DELETE', path: `${PODS}/a` });
    createPod(cluster, 'c');
    cluster.runUntil(cluster.nowMs + 60_000);
    fork.runUntil(fork.nowMs + 60_000);
    expect(cluster.objects('pods').map(({ metadata }) => metadata.name)).toEqual(['a', 'c']);
    expect(fork.objects('pods').map(({ metadata }) => metadata.name)).toEqual(['b']);
    expect(podNamed(cluster, 'a').status.phase).toBe('Running');
  });

  it('leaves the clients behind, but not the requests they have under way', async () => {
    const cluster = newCluster();
    const client = cluster.client('one');
    let answered = false;
    const request = { method: 'DELETE', path: `${PODS}/a` } as const;
    createPod(cluster, 'a');
    client.request(request).then(
      () => {
        answered = true;
        return answered;
      },
      () => {},
    );
    const fork = cluster.fork();
    fork.runUntil(fork.nowMs + 60_000);
    expect(fork.object('pods', 'default/a')).toBeUndefined();
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect(answered).toBe(false);
    expect(client.waiting.requests).toBe(1);
  });
});

describe('the past', () => {
  it('can be looked at by version until it is compacted', () => {
    const cluster = newCluster();
    createPod(cluster, 'a');
    const version = cluster.resourceVersion;
    cluster.handle({ method: 'DELETE', path: `${PODS}/a` });
    createPod(cluster, 'b');
    expect(cluster.objectsAt('pods', version)?.map(({ metadata }) => metadata.name)).toEqual(['a']);
    cluster.compact();
    expect(cluster.objectsAt('pods', version)).toBeUndefined();
    const list = {
      method: 'GET',
      path: PODS,
      query: { resourceVersion: String(version), resourceVersionMatch: 'Exact' },
    };
    expect(cluster.handle(list)).toMatchObject({ status: 410, body: { reason: 'Expired' } });
  });
});

it('keeps its clock at the end of what was run', () => {
  const cluster = newCluster();
  cluster.runUntil(START_MS + 12_345);
  expect(cluster.nowMs).toBe(START_MS + 12_345);
});

it('refuses an agenda entry that nobody handles', () => {
  const cluster = newCluster();
  cluster.schedule(cluster.nowMs, 'nonsense', {});
  expect(() => cluster.runUntil(cluster.nowMs + 1)).toThrow('nonsense');
});
