import { describe, expect, it } from '@jest/globals';
import { annotation, label } from '@omenative/api';
import type { Effect } from '@omenative/engine';
import { TransportError, testing } from '@omenative/kube';
import { contextOf, operation } from '../testing/effects.js';
import { at, Harness } from '../testing/harness.js';
import { rawPod, rawReplica } from '../testing/objects.js';
import { dropMarker, patchInPlace } from './patch-pod.js';

const { ok, failure } = testing;
const path = '/api/v1/namespaces/team-a/pods/chat-engine-0-default-0';
const cacheKey = 'team-a/chat-engine-0-default-0';
const pod = { name: 'chat-engine-0-default-0', uid: 'pod-uid-0-default-0', resourceVersion: '50' };
const marker = { targetImages: { main: 'registry/engine:2' }, restartCounts: { main: 1 } };
const text = '{"targetImages":{"main":"registry/engine:2"},"restartCounts":{"main":1}}';

const update: Extract<Effect, { readonly do: 'patchInPlace' }> = {
  do: 'patchInPlace',
  key: 'patchInPlace/x',
  covers: { by: 'operation', index: 0, id: operation },
  pod,
  images: { main: 'registry/engine:2' },
  marker,
  labels: { [label.revisionHash]: '99999999', [label.pairingProtocol]: null },
  annotations: { kept: '2', gone: null },
};
const drop: Extract<Effect, { readonly do: 'dropMarker' }> = {
  do: 'dropMarker',
  key: 'dropMarker/x',
  covers: { by: 'rule', rule: 'marker' },
  pod,
};

async function world() {
  const harness = await new Harness({ inferencereplicas: [rawReplica()], pods: [rawPod()] }).sync();
  return { harness, context: contextOf(harness) };
}

describe('patchInPlace', () => {
  it('writes record, image, labels and annotations in one patch of that very version [E33]', async () => {
    const { harness, context } = await world();
    harness.transport.answerNext(ok(at(rawPod(), '230')));
    expect(await patchInPlace(context, update)).toMatchObject({ as: 'ok' });
    expect(harness.transport.requests).toMatchObject([
      { method: 'PATCH', path, contentType: 'application/strategic-merge-patch+json' },
    ]);
    expect(harness.bodies('PATCH')).toEqual([
      {
        metadata: {
          uid: 'pod-uid-0-default-0',
          resourceVersion: '50',
          labels: { [label.revisionHash]: '99999999', [label.pairingProtocol]: null },
          annotations: { kept: '2', gone: null, [annotation.inPlaceTransition]: text },
        },
        spec: { containers: [{ name: 'main', image: 'registry/engine:2' }] },
      },
    ]);
  });

  it('leaves the spec alone when only metadata changes', async () => {
    const { harness, context } = await world();
    harness.transport.answerNext(ok(at(rawPod(), '230')));
    const { marker: _, ...unmarked } = update;
    await patchInPlace(context, { ...unmarked, images: {} });
    const [body] = harness.bodies('PATCH');
    expect(body).not.toHaveProperty('spec');
    expect(body?.['metadata']).toMatchObject({ annotations: { kept: '2', gone: null } });
    expect(JSON.stringify(body)).not.toContain(annotation.inPlaceTransition);
  });

  it('shows the patched pod at once, and is blind until the stream shows it too', async () => {
    const { harness, context } = await world();
    const metadata = { annotations: { [annotation.inPlaceTransition]: text } };
    harness.transport.answerNext(ok(at(rawPod({ hash: '99999999' }), '230', { metadata })));
    await patchInPlace(context, update);
    expect(harness.caches.pods.store.get(cacheKey)?.view).toMatchObject({ revisionHash: '99999999', inPlace: marker });
    expect([...context.ownWrites.blind('replica-uid')]).toEqual([0]);
    harness.stream('pods').bookmark('230');
    expect([...context.ownWrites.blind('replica-uid')]).toEqual([]);
  });

  it('looks at the pod again after a conflict, writes nothing more, and leaves it to the next plan [B36]', async () => {
    const { harness, context } = await world();
    harness.transport
      .answerNext(failure(409, 'Conflict', 'the object has been modified'))
      .answerNext(ok(at(rawPod({ hash: '77777777' }), '240')));
    expect(await patchInPlace(context, update)).toMatchObject({ as: 'conflict' });
    expect(harness.sent).toEqual([`PATCH ${path}`, `GET ${path}`]);
    expect(harness.caches.pods.store.get(cacheKey)?.view.revisionHash).toBe('77777777');
  });

  it('waits for a later pass when it can not look', async () => {
    const { harness, context } = await world();
    harness.transport
      .answerNext(failure(409, 'Conflict', 'the object has been modified'))
      .answerNext(new TransportError('refused', 'refused', 'no'));
    expect(await patchInPlace(context, update)).toMatchObject({ as: 'transient' });
  });

  it('takes in that the pod is gone', async () => {
    const { harness, context } = await world();
    harness.transport.answerNext(failure(404, 'NotFound', 'not found'));
    expect(await patchInPlace(context, update)).toMatchObject({ as: 'conflict' });
    expect(harness.caches.pods.store.get(cacheKey)).toBeUndefined();
  });

  it.each([
    ['invalid', failure(422, 'Invalid', 'spec: Forbidden: pod updates may not change fields')],
    ['invalid', failure(403, 'Forbidden', 'admission webhook "w" denied the request')],
    ['admissionUnavailable', failure(500, 'InternalError', 'failed calling webhook "w"')],
    ['throttled', failure(429, 'TooManyRequests', 'slow down')],
    ['skipped', new TransportError('lease', 'fenced', 'no')],
  ])('ends as %s [E41]', async (as, answer) => {
    const { harness, context } = await world();
    harness.transport.answerNext(answer);
    expect(await patchInPlace(context, update)).toMatchObject({ as });
    expect(context.ownWrites.blind('replica-uid').size).toBe(0);
  });

  it('is blind after a patch without an answer', async () => {
    const { harness, context } = await world();
    harness.transport.answerNext(new TransportError('timeout', 'timeout', 'maybe'));
    expect(await patchInPlace(context, update)).toMatchObject({ as: 'unknown' });
    expect([...context.ownWrites.blind('replica-uid')]).toEqual([0]);
  });
});

describe('dropMarker', () => {
  it('takes one annotation off that very pod, whatever its version', async () => {
    const { harness, context } = await world();
    harness.transport.answerNext(ok(at(rawPod(), '230')));
    expect(await dropMarker(context, drop)).toMatchObject({ as: 'ok' });
    expect(harness.transport.requests).toMatchObject([
      { method: 'PATCH', path, contentType: 'application/merge-patch+json' },
    ]);
    expect(harness.bodies('PATCH')).toEqual([
      { metadata: { uid: 'pod-uid-0-default-0', annotations: { [annotation.inPlaceTransition]: null } } },
    ]);
  });
});
