import { describe, expect, it } from '@jest/globals';
import { TransportError, testing } from '@omenative/kube';
import type { JsonRecord } from '../../shared/json.js';
import { contextOf, deleteEffect } from '../testing/effects.js';
import { at, Harness } from '../testing/harness.js';
import { rawPod, rawReplica, rawService, rawSlice, servingConditions } from '../testing/objects.js';
import { deletePod } from './delete-pod.js';

const { ok, failure, listOf } = testing;
const deleted = ok({ kind: 'Status', status: 'Success' });
const cacheKey = 'team-a/chat-engine-0-default-0';

async function world(services: readonly JsonRecord[] = [rawService()]) {
  const pods = [rawPod(), rawPod({ index: 1 })];
  const harness = await new Harness({ inferencereplicas: [rawReplica()], pods, services }).sync();
  return { harness, context: contextOf(harness) };
}

function slicesAnswer(...slices: readonly JsonRecord[]) {
  return listOf(slices, '300');
}

describe('deletePod', () => {
  it('deletes that very pod as it was seen, with its own grace unless told otherwise', async () => {
    const { harness, context } = await world();
    harness.answer(() => deleted);
    await deletePod(context, deleteEffect(0, 'none'));
    await deletePod(context, { ...deleteEffect(1, 'none'), graceSeconds: 5 });
    expect(harness.bodies('DELETE')).toEqual([
      { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: 'pod-uid-0-default-0', resourceVersion: '50' } },
      {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        preconditions: { uid: 'pod-uid-1-default-0', resourceVersion: '50' },
        gracePeriodSeconds: 5,
      },
    ]);
  });

  it('shows a pod that dies as dying, and is blind until the stream shows it', async () => {
    const { harness, context } = await world();
    harness.transport.answerNext(ok(at(rawPod(), '210', { metadata: { deletionTimestamp: '2026-01-01T00:01:00Z' } })));
    expect(await deletePod(context, deleteEffect(0, 'none'))).toMatchObject({ as: 'ok' });
    expect(harness.caches.pods.store.get(cacheKey)?.view.deletionAt).toBe(1_767_225_660);
    expect([...context.ownWrites.blind('replica-uid')]).toEqual([0]);
  });

  it('shows a pod that is gone as gone', async () => {
    const { harness, context } = await world();
    harness.transport.answerNext(deleted);
    await deletePod(context, deleteEffect(0, 'none'));
    expect(harness.caches.pods.store.get(cacheKey)).toBeUndefined();
    expect(harness.caches.pods.store.deletedWithProof(cacheKey)).toBeDefined();
  });

  it('counts a pod that was gone already as gone [E131]', async () => {
    const { harness, context } = await world();
    harness.transport.answerNext(failure(404, 'NotFound', 'not found'));
    expect(await deletePod(context, deleteEffect(0, 'none'))).toMatchObject({ as: 'gone' });
    expect(harness.caches.pods.store.get(cacheKey)).toBeUndefined();
  });

  it('leaves a pod alone that has changed since, and shows it: late, a deletion would hit what now serves', async () => {
    const { harness, context } = await world();
    const changed = at(rawPod({ status: { phase: 'Running', conditions: servingConditions() } }), '215');
    harness.transport
      .answerNext(failure(409, 'Conflict', 'the ResourceVersion does not match'))
      .answerNext(ok(changed));
    expect(await deletePod(context, deleteEffect(0, 'none'))).toMatchObject({ as: 'conflict' });
    expect(harness.caches.pods.store.get(cacheKey)?.view.ready).toBe(true);
  });

  it('leaves a later pod of the same name alone, and shows it', async () => {
    const { harness, context } = await world();
    harness.transport
      .answerNext(failure(409, 'Conflict', 'the UID in the precondition does not match'))
      .answerNext(ok(at(rawPod({ uid: 'later' }), '215')));
    expect(await deletePod(context, deleteEffect(0, 'none'))).toMatchObject({ as: 'gone' });
    expect(harness.caches.pods.store.get(cacheKey)?.meta.uid).toBe('later');
  });

  it('is blind after a delete without an answer', async () => {
    const { harness, context } = await world();
    harness.transport.answerNext(new TransportError('reset', 'reset', 'maybe'));
    expect(await deletePod(context, deleteEffect(0, 'none'))).toMatchObject({ as: 'unknown' });
    expect([...context.ownWrites.blind('replica-uid')]).toEqual([0]);
  });

  describe('with the live guard', () => {
    const endpoint = { pod: 'chat-engine-0-default-0', uid: 'pod-uid-0-default-0' };

    it('deletes what no Service routes to, and reads the slices once for a whole wave [E130]', async () => {
      const { harness, context } = await world();
      harness.answer(({ method }) => (method === 'GET' ? slicesAnswer(rawSlice('chat-engine', [endpoint])) : deleted));
      const results = [await deletePod(context, deleteEffect(0)), await deletePod(context, deleteEffect(1))];
      expect(results).toMatchObject([
        { as: 'guardFailed', detail: 'still routed by one of the Services chat-engine' },
        { as: 'ok' },
      ]);
      expect(harness.sent.map((line) => line.split('/').at(-1))).toEqual(['endpointslices', 'chat-engine-1-default-0']);
    });

    it('keeps a pod whose terminating endpoint is ready [E198]', async () => {
      const { harness, context } = await world();
      const conditions = { ready: true, terminating: true };
      harness.transport.answerNext(slicesAnswer(rawSlice('chat-engine', [{ ...endpoint, conditions }])));
      expect(await deletePod(context, deleteEffect(0))).toMatchObject({ as: 'guardFailed' });
    });

    it('keeps a pod when its Service has no slices [E141]', async () => {
      const { harness, context } = await world();
      harness.transport.answerNext(slicesAnswer());
      expect(await deletePod(context, deleteEffect(0))).toMatchObject({
        as: 'guardFailed',
        detail: 'one of the Services chat-engine has no EndpointSlice yet',
      });
    });

    it('deletes a pod that no Service selects, as a worker [E141]', async () => {
      const { harness, context } = await world([]);
      harness.transport.answerNext(slicesAnswer()).answerNext(deleted);
      expect(await deletePod(context, deleteEffect(0))).toMatchObject({ as: 'ok' });
    });

    it('keeps a pod that a Service routes to which no cache has seen yet', async () => {
      const { harness, context } = await world([]);
      harness.transport.answerNext(slicesAnswer(rawSlice('chat-engine-rev-0a1b2c3d', [endpoint])));
      expect(await deletePod(context, deleteEffect(0))).toMatchObject({ as: 'guardFailed' });
    });

    it('does not go by headless Services', async () => {
      const { harness, context } = await world([]);
      const labels = { 'service.kubernetes.io/headless': '' };
      harness.transport
        .answerNext(slicesAnswer(rawSlice('chat-engine-headless', [endpoint], { labels })))
        .answerNext(deleted);
      expect(await deletePod(context, deleteEffect(0))).toMatchObject({ as: 'ok' });
    });

    it('deletes nothing when the slices cannot be read [E129]', async () => {
      const { harness, context } = await world();
      harness.answer(() => failure(500, 'InternalError', 'etcd is away'));
      expect(await deletePod(context, deleteEffect(0))).toMatchObject({ as: 'transient', detail: 'etcd is away' });
      expect(await deletePod(context, deleteEffect(1))).toMatchObject({ as: 'transient' });
      expect(harness.bodies('DELETE')).toEqual([]);
    });

    it('reads all pages', async () => {
      const { harness, context } = await world();
      harness.transport
        .answerNext(listOf([rawSlice('chat-engine', [])], '300', 'more'))
        .answerNext(slicesAnswer(rawSlice('chat-engine', [endpoint], { name: 'chat-engine-x2' })));
      expect(await deletePod(context, deleteEffect(0))).toMatchObject({ as: 'guardFailed' });
      expect(harness.transport.requests[1]?.query).toMatchObject({ continue: 'more' });
    });
  });
});
