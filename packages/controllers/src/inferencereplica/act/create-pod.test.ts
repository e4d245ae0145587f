import { describe, expect, it } from '@jest/globals';
import { TransportError, testing } from '@omenative/kube';
import { contextOf, createEffect } from '../testing/effects.js';
import { at, Harness } from '../testing/harness.js';
import { rawPod, rawReplica } from '../testing/objects.js';
import { createPod } from './create-pod.js';

const { ok, failure } = testing;
const exists = failure(409, 'AlreadyExists', 'pods "chat-engine-0-default-0" already exists');

async function world() {
  const harness = await new Harness({ inferencereplicas: [rawReplica()] }).sync();
  const bare = contextOf(harness);
  const { snapshot } = bare.observation;
  const rev = snapshot.specRevision;
  const stored = { name: rev, uid: 'r', hash: '0a1b2c3d', number: 1, payload: snapshot.spec.payload };
  const observation = { ...bare.observation, snapshot: { ...snapshot, revisions: new Map([[rev, stored]]) } };
  return { harness, context: { ...bare, observation }, effect: createEffect(rev) };
}

describe('createPod', () => {
  it('posts the pod, shows it at once, and is blind until the stream shows it too', async () => {
    const { harness, context, effect } = await world();
    harness.answer(({ body }) => ok({ ...(body as object), ...at(rawPod(), '205') }, 201));
    expect(await createPod(context, effect)).toMatchObject({ as: 'ok' });
    expect(harness.caches.pods.store.get('team-a/chat-engine-0-default-0')?.meta.uid).toBe('pod-uid-0-default-0');
    expect([...context.ownWrites.blind('replica-uid')]).toEqual([0]);
    harness.stream('pods').bookmark('205');
    expect([...context.ownWrites.blind('replica-uid')]).toEqual([]);
  });

  it('takes in a pod of ours that has the name already', async () => {
    const { harness, context, effect } = await world();
    harness.transport.answerNext(exists).answerNext(ok(at(rawPod(), '203')));
    expect(await createPod(context, effect)).toMatchObject({ as: 'exists' });
    expect(harness.caches.pods.store.get('team-a/chat-engine-0-default-0')).toBeDefined();
  });

  it.each([
    ['an earlier replica of the same name', rawPod({ owner: 'earlier' })],
    ['nobody', { metadata: { name: 'chat-engine-0-default-0', namespace: 'team-a', uid: 'x', resourceVersion: '9' } }],
    ['ours, without our labels', rawPod({ labels: { 'ome.io/managed-by': 'me' } })],
  ])('neither adopts nor deletes a pod of %s [B50] [B105]', async (_, holder) => {
    const { harness, context, effect } = await world();
    harness.transport.answerNext(exists).answerNext(ok(at(holder, '203')));
    const result = await createPod(context, effect);
    expect(result.as).toBe('nameTaken');
    expect(result.detail).toContain('chat-engine-0-default-0');
    expect(harness.caches.pods.store.size).toBe(0);
    expect(harness.sent.map((line) => line.split(' ')[0])).toEqual(['POST', 'GET']);
  });

  it('says of a pod of ours that lost its label what to do about it', async () => {
    const { harness, context, effect } = await world();
    harness.transport.answerNext(exists).answerNext(ok(at(rawPod({ labels: { 'ome.io/managed-by': 'me' } }), '203')));
    expect(await createPod(context, effect)).toEqual({
      as: 'nameTaken',
      detail:
        'pod chat-engine-0-default-0 of this replica has lost its label ome.io/managed-by=OMENative and is left alone: put the label back, or delete the pod',
    });
  });

  it('finds the name free again', async () => {
    const { harness, context, effect } = await world();
    harness.transport.answerNext(exists).answerNext(failure(404, 'NotFound', 'gone'));
    expect(await createPod(context, effect)).toMatchObject({ as: 'conflict' });
  });

  it('is blind after a create without an answer until a live read has settled it', async () => {
    const { harness, context, effect } = await world();
    harness.transport.answerNext(new TransportError('timeout', 'timeout', 'maybe'));
    expect(await createPod(context, effect)).toMatchObject({ as: 'unknown' });
    expect([...context.ownWrites.blind('replica-uid')]).toEqual([0]);
    harness.transport.answerNext(new TransportError('timeout', 'timeout', 'maybe'));
    await context.ownWrites.settle(harness.client, 'replica-uid');
    expect([...context.ownWrites.blind('replica-uid')]).toEqual([0]);
    harness.transport.answerNext(ok(at(rawPod(), '203')));
    await context.ownWrites.settle(harness.client, 'replica-uid');
    expect([...context.ownWrites.blind('replica-uid')]).toEqual([]);
    expect(harness.caches.pods.store.size).toBe(1);
  });

  it.each([
    ['quota', failure(403, 'Forbidden', 'exceeded quota: q, requested: pods=1')],
    ['invalid', failure(422, 'Invalid', 'Pod is invalid')],
    ['invalid', failure(403, 'Forbidden', 'violates PodSecurity "restricted"')],
    ['transient', failure(403, 'Forbidden', 'pods is forbidden: User "u" cannot create resource "pods"')],
    ['throttled', failure(429, 'TooManyRequests', 'slow down')],
    ['namespaceTerminating', failure(403, 'Forbidden', 'namespace x because it is being terminated')],
    ['admissionUnavailable', failure(500, 'InternalError', 'failed calling webhook "w"')],
    ['transient', new TransportError('refused', 'refused', 'no')],
    ['skipped', new TransportError('lease', 'fenced', 'no')],
  ])('ends as %s', async (as, answer) => {
    const { harness, context, effect } = await world();
    harness.transport.answerNext(answer);
    expect(await createPod(context, effect)).toMatchObject({ as });
    expect(context.ownWrites.blind('replica-uid').size).toBe(0);
  });

  it('makes nothing from a revision that is gone', async () => {
    const { harness, context } = await world();
    expect(await createPod(context, createEffect('chat-engine-ffffffff'))).toMatchObject({ as: 'invalid' });
    expect(harness.sent).toEqual([]);
  });
});
