import { beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from './client.js';
import { classify } from './errors.js';
import type { FenceState } from './fence.js';
import type { KubeObject, ResourceType } from './resources.js';
import { failure, listOf, noAnswer, ok, ScriptedTransport } from './testing/scripted-transport.js';
import { VirtualRuntime } from './testing/virtual-runtime.js';
import { TransportError } from './transport.js';

interface Pod extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
}
const pods: ResourceType<Pod> = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
const nodes: ResourceType = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
const leases: ResourceType = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
};
const name = { namespace: 'team-a', name: 'p' };
const pod: Pod = { metadata: { ...name, resourceVersion: '7' }, spec: { nodeName: 'n1' } };

describe('Client', () => {
  let runtime: VirtualRuntime;
  let transport: ScriptedTransport;
  let client: Client;

  beforeEach(() => {
    runtime = new VirtualRuntime();
    transport = new ScriptedTransport(() => ok(pod));
    client = new Client({ transport, runtime });
  });

  /** The outcome of a call, after so much virtual time. */
  async function outcome(call: Promise<unknown>, afterMs = 60_000): Promise<unknown> {
    const settled = call.then(
      (value) => value,
      (error: unknown) => error,
    );
    await runtime.advance(afterMs);
    return settled;
  }

  describe('asks for what it is told', () => {
    it.each([
      ['get', () => client.get(pods, name), { method: 'GET', path: '/api/v1/namespaces/team-a/pods/p', query: {} }],
      [
        'get of a cluster-scoped object',
        () => client.get(nodes, { name: 'n' }),
        { method: 'GET', path: '/api/v1/nodes/n', query: {} },
      ],
      [
        'get of a subresource, from the cache',
        () => client.get(leases, name, { subresource: 'scale', resourceVersion: '0' }),
        {
          method: 'GET',
          path: '/apis/coordination.k8s.io/v1/namespaces/team-a/leases/p/scale',
          query: { resourceVersion: '0' },
        },
      ],
      [
        'create',
        () => client.create(pods, pod, { dryRun: 'All' }),
        {
          method: 'POST',
          path: '/api/v1/namespaces/team-a/pods',
          query: { dryRun: 'All' },
          body: { apiVersion: 'v1', kind: 'Pod', ...pod },
        },
      ],
      [
        'create of a subresource, whose body keeps its own kind',
        () => client.create(pods, { kind: 'Eviction', apiVersion: 'policy/v1', ...pod }, { subresource: 'eviction' }),
        {
          method: 'POST',
          path: '/api/v1/namespaces/team-a/pods/p/eviction',
          body: { kind: 'Eviction', apiVersion: 'policy/v1', ...pod },
        },
      ],
      [
        'replace',
        () => client.replace(pods, pod),
        { method: 'PUT', path: '/api/v1/namespaces/team-a/pods/p', body: { apiVersion: 'v1', kind: 'Pod', ...pod } },
      ],
      [
        'replaceStatus',
        () => client.replaceStatus(pods, pod),
        { method: 'PUT', path: '/api/v1/namespaces/team-a/pods/p/status' },
      ],
      [
        'a merge patch',
        () => client.patch(pods, name, { kind: 'merge', body: { a: 1 } }, { subresource: 'status' }),
        {
          method: 'PATCH',
          path: '/api/v1/namespaces/team-a/pods/p/status',
          contentType: 'application/merge-patch+json',
          body: { a: 1 },
        },
      ],
      [
        'server-side apply',
        () => client.patch(pods, name, { kind: 'apply', body: pod, fieldManager: 'me', force: 'takeOver' }),
        { method: 'PATCH', contentType: 'application/apply-patch+yaml', query: { fieldManager: 'me', force: 'true' } },
      ],
      [
        'delete with preconditions',
        () =>
          client.delete(pods, name, {
            preconditions: { uid: 'u', resourceVersion: '7' },
            gracePeriodSeconds: 0,
            propagationPolicy: 'Foreground',
            dryRun: 'All',
          }),
        {
          method: 'DELETE',
          path: '/api/v1/namespaces/team-a/pods/p',
          body: {
            apiVersion: 'v1',
            kind: 'DeleteOptions',
            preconditions: { uid: 'u', resourceVersion: '7' },
            gracePeriodSeconds: 0,
            propagationPolicy: 'Foreground',
            dryRun: ['All'],
          },
        },
      ],
    ] as [string, () => Promise<unknown>, object][])('%s', async (_, call, expected) => {
      await call();
      expect(transport.requests).toMatchObject([expected]);
    });

    it('a page of a list, and the next', async () => {
      transport.answerNext(listOf([pod], '9', 'more')).answerNext(listOf([], '9'));
      const options = { namespace: 'team-a', labelSelector: 'a=b', fieldSelector: 'c=d', limit: 1 };
      const page = await client.list(pods, options);
      expect(page).toEqual({ items: [pod], resourceVersion: '9', continueToken: 'more' });
      expect(await client.list(pods, { ...options, continueToken: 'more' })).toEqual({
        items: [],
        resourceVersion: '9',
      });
      const query = { labelSelector: 'a=b', fieldSelector: 'c=d', limit: '1' };
      expect(transport.requests).toEqual([
        { method: 'GET', path: '/api/v1/namespaces/team-a/pods', query },
        { method: 'GET', path: '/api/v1/namespaces/team-a/pods', query: { ...query, continue: 'more' } },
      ]);
    });

    it('with its deadline and its field manager', async () => {
      await new Client({ transport, runtime, fieldManager: 'me' }).replace(pods, pod, { deadlineMs: 99 });
      expect(transport.requests).toMatchObject([{ deadlineMs: 99, query: { fieldManager: 'me' } }]);
    });
  });

  it('tells an object that is being deleted from one that is gone', async () => {
    transport.answerNext(ok(pod)).answerNext(ok({ kind: 'Status', status: 'Success' }));
    expect(await client.delete(pods, name)).toEqual({ how: 'terminating', object: pod });
    expect(await client.delete(pods, name)).toEqual({ how: 'deleted' });
  });

  it.each([
    ['a namespaced object without its namespace', () => client.get(pods, { name: 'p' })],
    ['a cluster-scoped object with one', () => client.get(nodes, name)],
    ['an object without a name', () => client.replace(pods, { metadata: { namespace: 'team-a' } })],
    ['an object to be created nowhere', () => client.create(pods, { metadata: { name: 'p' } })],
  ])('does not send %s', async (_, call) => {
    await expect(call()).rejects.toThrow(TypeError);
    expect(transport.requests).toEqual([]);
  });

  it('names the object in what it throws', async () => {
    transport.answerNext(failure(409, 'Conflict', 'it has been modified'));
    expect(await outcome(client.replaceStatus(pods, pod))).toMatchObject({
      message: 'update Pod/status team-a/p: 409 Conflict: it has been modified',
      subject: { verb: 'update', kind: 'Pod/status', key: 'team-a/p' },
    });
  });

  it('does not take a page of a proxy for an object', async () => {
    transport.answerAll(() => ok('<html>'));
    expect(classify(await outcome(client.replace(pods, pod)))).toBe('unknown');
  });

  describe('repeats', () => {
    const tooMany = failure(429, 'TooManyRequests', 'later', { headers: { 'retry-after': '2' } });

    it('what was throttled, whatever the verb, when the server says so', async () => {
      transport.answerNext(tooMany);
      const created = client.create(pods, pod);
      await runtime.advance(1999);
      expect(transport.requests).toHaveLength(1);
      await runtime.advance(401);
      expect(transport.requests).toHaveLength(2);
      expect(await created).toEqual(pod);
    });

    it('a read without an answer', async () => {
      transport.answerNext(noAnswer()).answerNext(noAnswer());
      expect(await outcome(client.get(pods, name))).toEqual(pod);
      expect(transport.requests).toHaveLength(3);
    });

    it('a read of a server that is about to be ready', async () => {
      transport.answerNext(failure(503, 'ServiceUnavailable', 'm', { headers: { 'retry-after': '1' } }));
      expect(await outcome(client.get(pods, name))).toEqual(pod);
    });

    it('nothing for ever', async () => {
      transport.answerAll(() => tooMany);
      expect(classify(await outcome(client.get(pods, name)))).toBe('throttled');
      expect(transport.requests).toHaveLength(4);
    });

    it('nothing that it would have to wait too long for', async () => {
      transport.answerAll(() => failure(429, 'TooManyRequests', 'm', { headers: { 'retry-after': '60' } }));
      expect(await outcome(client.create(pods, pod), 0)).toMatchObject({ retryAfterMs: 60_000 });
      expect(transport.requests).toHaveLength(1);
    });

    it('only as often as it may', async () => {
      transport.answerAll(() => noAnswer());
      await outcome(client.withRetry({ maxAttempts: 1, maxWaitMs: 0 }).get(pods, name));
      expect(transport.requests).toHaveLength(1);
    });
  });

  it.each([
    ['without an answer', noAnswer(), 'unknown'],
    ['that could not be sent', new TransportError('m', 'refused', 'no'), 'unavailable'],
    ['that the server broke over', failure(500, 'InternalError', 'm'), 'serverError'],
    [
      'that timed out inside the server',
      failure(504, 'Timeout', 'm', { details: { retryAfterSeconds: 1 } }),
      'serverError',
    ],
  ])('never repeats a write %s', async (_, answer, as) => {
    for (const write of [
      () => client.create(pods, pod),
      () => client.replace(pods, pod),
      () => client.patch(pods, name, { kind: 'merge', body: {} }),
      () => client.delete(pods, name),
    ]) {
      const before = transport.requests.length;
      transport.answerNext(answer);
      expect(classify(await outcome(write()))).toBe(as);
      expect(transport.requests).toHaveLength(before + 1);
    }
  });

  describe('behind a fence', () => {
    let state: FenceState;
    let fenced: Client;

    beforeEach(() => {
      state = { open: true };
      fenced = client.fenced(() => state);
    });

    it('writes while it is open', async () => {
      expect(await fenced.create(pods, pod)).toEqual(pod);
    });

    it('sends no write once it is shut, and still reads [B40]', async () => {
      state = { open: false, why: 'the lease is lost' };
      const writes = [fenced.create(pods, pod), fenced.replace(pods, pod), fenced.delete(pods, name)];
      for (const write of [...writes, fenced.patch(pods, name, { kind: 'merge', body: {} })]) {
        const error = await outcome(write);
        expect(classify(error)).toBe('fenced');
        expect(error).toMatchObject({ sent: 'no', message: expect.stringContaining('the lease is lost') });
      }
      expect(transport.requests).toEqual([]);
      expect(await fenced.get(pods, name)).toEqual(pod);
    });

    it('does not repeat a write when it shuts meanwhile [B40]', async () => {
      transport.answerNext(failure(429, 'TooManyRequests', 'm', { headers: { 'retry-after': '5' } }));
      const write = fenced.create(pods, pod);
      await runtime.advance(0);
      state = { open: false, why: 'the lease is lost' };
      expect(classify(await outcome(write))).toBe('fenced');
      expect(transport.requests).toHaveLength(1);
    });
  });
});
