import { describe, expect, it } from '@jest/globals';
import type { Cluster } from '../cluster.js';
import { createPod, drained, newCluster, PODS, podBody } from '../testing/fixtures.js';
import type { Client } from './client.js';
import type { Fate } from './faults.js';
import type { ClientRequest, ClientWatchEvent } from './shapes.js';

const create: ClientRequest = { method: 'POST', path: PODS, body: podBody('a') };

/** Sends a creation with a fate and lets time pass: what the client heard, and whether the pod is there. */
async function fateOf(fate: Fate, runMs: number): Promise<readonly [string, boolean]> {
  const cluster = newCluster();
  cluster.hooks.onRequest = () => fate;
  const heard = outcome(cluster.client('one'), create);
  await run(cluster, runMs);
  return [heard.text, cluster.object('pods', 'default/a') !== undefined];
}

function outcome(client: Client, request: ClientRequest): { text: string } {
  const heard = { text: 'nothing' };
  client.request(request).then(
    ({ status }) => {
      heard.text = String(status);
      return status;
    },
    (error: Error & { kind?: string; sent?: string }) => {
      heard.text = `${error.name} ${error.kind ?? ''} ${error.sent ?? ''}`;
    },
  );
  return heard;
}

async function run(cluster: Cluster, ms: number): Promise<void> {
  const untilMs = cluster.nowMs + ms;
  while ((cluster.nextAtMs() ?? untilMs + 1) <= untilMs) {
    cluster.step();
    if (cluster.touchedClient) await drained();
  }
  cluster.advanceTo(untilMs);
  await drained();
}

describe('the fate of a request', () => {
  it.each<readonly [string, Fate, number, string, boolean]>([
    ['is applied and answered', { is: 'answered' }, 100, '201', true],
    ['is applied, the answer lost', { is: 'appliedAnswerLost' }, 100, 'TransportError reset maybe', true],
    ['never arrives', { is: 'notApplied' }, 100, 'TransportError refused no', false],
    [
      'is not applied yet when the client gives up',
      { is: 'appliedLate', afterMs: 5000 },
      100,
      'TransportError reset maybe',
      false,
    ],
    [
      'is applied long after the client gave up',
      { is: 'appliedLate', afterMs: 5000 },
      6000,
      'TransportError reset maybe',
      true,
    ],
    ['is refused', { is: 'refused', status: 429, retryAfterSeconds: 2 }, 100, '429', false],
    ['is never heard of', { is: 'never' }, 60_000, 'nothing', false],
  ])('%s', async (_title, fate, runMs, heard, applied) => {
    expect(await fateOf(fate, runMs)).toEqual([heard, applied]);
  });

  it('is drawn from the seed by the probabilities given', async () => {
    const cluster = newCluster();
    const client = cluster.client('one', { faults: { answerLost: 0.3, notApplied: 0.3 } });
    const heard = Array.from({ length: 60 }, (_, i) => outcome(client, { ...create, body: podBody(`p${i}`) }));
    await run(cluster, 1000);
    const count = (text: string) => heard.filter((one) => one.text === text).length;
    expect(count('201')).toBeGreaterThan(10);
    expect(count('TransportError reset maybe')).toBeGreaterThan(5);
    expect(count('TransportError refused no')).toBeGreaterThan(5);
    expect(count('201') + count('TransportError reset maybe')).toBe(cluster.objects('pods').length);
  });

  it('is a timeout when the deadline passes first', async () => {
    const cluster = newCluster();
    const client = cluster.client('one', { faults: { latencyMs: [5000, 5000] } });
    const heard = outcome(client, { ...create, deadlineMs: 2000 });
    await run(cluster, 3000);
    expect(heard.text).toBe('TransportError timeout maybe');
    await run(cluster, 10_000);
    expect(cluster.object('pods', 'default/a')).toBeDefined();
  });
});

describe('a crash', () => {
  it.each(['before', 'after'] as const)('%s a write is applied leaves the client without a word', async (when) => {
    const cluster = newCluster();
    const client = cluster.client('one');
    if (when === 'before') {
      cluster.hooks.beforeWrite = () => {
        client.kill();
        return 'drop';
      };
    } else {
      cluster.hooks.afterWrite = () => {
        client.kill();
        return 'drop';
      };
    }
    const heard = outcome(client, create);
    let fired = false;
    client.runtime().setTimer(10_000, () => {
      fired = true;
    });
    await run(cluster, 60_000);
    expect(heard.text).toBe('nothing');
    expect(fired).toBe(false);
    expect(cluster.object('pods', 'default/a') !== undefined).toBe(when === 'after');
  });

  it('numbers the writes of a client, and not its reads', async () => {
    const cluster = newCluster();
    const client = cluster.client('one');
    const seen: number[] = [];
    cluster.hooks.beforeWrite = (write) => {
      seen.push(write.n);
      return 'apply';
    };
    outcome(client, { method: 'GET', path: PODS });
    outcome(client, create);
    outcome(client, { method: 'DELETE', path: `${PODS}/b` });
    await run(cluster, 100);
    expect(seen.toSorted((a, b) => a - b)).toEqual([1, 2]);
  });
});

interface Heard {
  readonly events: string[];
  readonly ends: string[];
  readonly at: number[];
}

function listen(cluster: Cluster, client: Client, query: Readonly<Record<string, string>>, path = PODS): Heard {
  const heard: Heard = { events: [], ends: [], at: [] };
  client.watch(
    { method: 'GET', path, query: { watch: 'true', ...query } },
    {
      onOpen: () => heard.events.push('open'),
      onEvent: (event: ClientWatchEvent) => {
        const { metadata } = event.object as { metadata: { name?: string } };
        heard.events.push(`${event.type} ${metadata?.name ?? ''}`.trim());
        heard.at.push(cluster.nowMs);
      },
      onEnd: (end) => heard.ends.push(end.how),
    },
  );
  return heard;
}

/** A pod that no scheduler looks at: one event for each write of ours. */
function idle(cluster: Cluster, name: string): void {
  createPod(cluster, name, { schedulerName: 'nobody' });
}

describe('a stream', () => {
  it('delivers in order, each client with a lag of its own', async () => {
    const cluster = newCluster();
    const quick = listen(cluster, cluster.client('quick', { faults: { watchLagMs: [1, 5] } }), {
      resourceVersion: '0',
    });
    const slow = listen(cluster, cluster.client('slow', { faults: { watchLagMs: [1000, 9000] } }), {
      resourceVersion: '0',
    });
    await run(cluster, 20_000);
    const fromMs = cluster.nowMs;
    for (const name of ['a', 'b', 'c', 'd']) idle(cluster, name);
    await run(cluster, 20_000);
    const all = ['open', 'ADDED a', 'ADDED b', 'ADDED c', 'ADDED d'];
    expect(quick.events).toEqual(all);
    expect(slow.events).toEqual(all);
    expect(Math.max(...quick.at) - fromMs).toBeLessThanOrEqual(5);
    expect(Math.min(...slow.at) - fromMs).toBeGreaterThanOrEqual(1000);
  });

  it('says nothing after it was closed by its client', async () => {
    const cluster = newCluster();
    const client = cluster.client('one');
    const events: string[] = [];
    const handle = client.watch(
      { method: 'GET', path: PODS, query: { watch: 'true', resourceVersion: '0' } },
      { onOpen: () => {}, onEvent: ({ type }) => events.push(type), onEnd: () => events.push('end') },
    );
    await run(cluster, 1000);
    handle.close();
    idle(cluster, 'a');
    await run(cluster, 1000);
    expect(events).toEqual([]);
    expect(client.waiting.streams).toBe(0);
  });

  it('can be cut, ended and expired', async () => {
    const cluster = newCluster();
    const client = cluster.client('one');
    const heard = (['cut', 'close', 'expire'] as const).map((how) => {
      const one = listen(cluster, client, { resourceVersion: '0' }, `/api/v1/namespaces/${how}/pods`);
      return { how, one };
    });
    await run(cluster, 1000);
    for (const { how } of heard) client[how](`/namespaces/${how}/`);
    expect(heard.map(({ one }) => [...one.events, ...one.ends])).toEqual([
      ['open', 'broken'],
      ['open', 'closed'],
      ['open', 'ERROR', 'closed'],
    ]);
  });

  it('holds everything back while it is stalled, and loses nothing', async () => {
    const cluster = newCluster();
    const client = cluster.client('one');
    const heard = listen(cluster, client, { resourceVersion: '0' });
    await run(cluster, 1000);
    client.stall(cluster.nowMs + 30_000);
    idle(cluster, 'a');
    await run(cluster, 29_000);
    expect(heard.events).toEqual(['open']);
    idle(cluster, 'b');
    await run(cluster, 2000);
    expect(heard.events).toEqual(['open', 'ADDED a', 'ADDED b']);
  });

  it('is answered 410 in the stream when its version was compacted away', async () => {
    const cluster = newCluster();
    const old = String(cluster.resourceVersion);
    idle(cluster, 'a');
    cluster.compact();
    const heard = listen(cluster, cluster.client('one'), { resourceVersion: old });
    await run(cluster, 1000);
    expect(heard).toMatchObject({ events: ['open', 'ERROR'], ends: ['closed'] });
  });

  it('is ended with 410 when a compaction takes away what it has not seen, and lives on when it has seen all', async () => {
    const cluster = newCluster();
    const slow = cluster.client('slow', { faults: { watchLagMs: [5000, 5000] } });
    const behind = listen(cluster, slow, { resourceVersion: '0' });
    const level = listen(cluster, cluster.client('quick'), { resourceVersion: '0' });
    await run(cluster, 10_000);
    idle(cluster, 'a');
    await run(cluster, 1000);
    cluster.compact();
    await run(cluster, 10_000);
    expect(behind).toMatchObject({ events: ['open', 'ERROR'], ends: ['closed'] });
    idle(cluster, 'b');
    await run(cluster, 1000);
    expect(level).toMatchObject({ events: ['open', 'ADDED a', 'ADDED b'], ends: [] });
  });

  it('sends bookmarks that move the version of an idle stream', async () => {
    const cluster = newCluster();
    const client = cluster.client('one', { faults: { bookmarkMs: 10_000 } });
    const heard = listen(cluster, client, { resourceVersion: '0', allowWatchBookmarks: 'true' });
    await run(cluster, 35_000);
    expect(heard.events).toEqual(['open', 'BOOKMARK', 'BOOKMARK', 'BOOKMARK']);
  });
});

describe('a server that lags', () => {
  it('shows the past in lists from its cache and in streams, and the present in consistent lists', async () => {
    const cluster = newCluster();
    const client = cluster.client('one');
    idle(cluster, 'a');
    client.fallBehind(cluster.nowMs + 20_000);
    idle(cluster, 'b');
    const names: string[][] = [];
    const read = (query: Readonly<Record<string, string>>) =>
      client.request({ method: 'GET', path: PODS, query }).then(({ body }) => {
        const { items } = body as { items: { metadata: { name: string } }[] };
        return names.push(items.map(({ metadata }) => metadata.name));
      });
    const both = Promise.all([read({ resourceVersion: '0' }), read({})]);
    const heard = listen(cluster, client, { resourceVersion: '0' });
    await run(cluster, 10_000);
    await both;
    expect(names.toSorted((a, b) => a.length - b.length)).toEqual([['a'], ['a', 'b']]);
    expect(heard.events).toEqual(['open', 'ADDED a']);
    await run(cluster, 15_000);
    expect(heard.events).toEqual(['open', 'ADDED a', 'ADDED b']);
  });
});

it('gives timers that fire once, in order, and can be cancelled', async () => {
  const cluster = newCluster();
  const runtime = cluster.client('one').runtime();
  const fired: string[] = [];
  runtime.setTimer(200, () => fired.push('late'));
  runtime.setTimer(100, () => fired.push('early'));
  runtime.setTimer(150, () => fired.push('never')).cancel();
  const fromMs = runtime.nowMs();
  await run(cluster, 1000);
  expect(fired).toEqual(['early', 'late']);
  expect(runtime.nowMs() - fromMs).toBe(1000);
  expect(runtime.monotonicMs()).toBe(1000);
});

it('hands out frozen objects, so that a client which changes them is found out', async () => {
  const cluster = newCluster();
  idle(cluster, 'a');
  const answer = cluster.client('one').request({ method: 'GET', path: `${PODS}/a` });
  await run(cluster, 100);
  const { body } = await answer;
  expect(() => {
    (body as { spec: { nodeName: string } }).spec.nodeName = 'x';
  }).toThrow(TypeError);
});
