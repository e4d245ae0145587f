import { describe, expect, it } from '@jest/globals';
import { lifecycleHold } from '@omenative/engine';
import { TransportError, testing } from '@omenative/kube';
import { asRecord, asRecords, type JsonRecord } from '../../shared/json.js';
import { contextOf, gateEffect } from '../testing/effects.js';
import { at, Harness } from '../testing/harness.js';
import { gateCondition, rawPod, rawReplica } from '../testing/objects.js';
import { gatePod } from './gate-pod.js';

const { ok, failure } = testing;
const conflict = failure(409, 'Conflict', 'the object has been modified');

function pod(condition: JsonRecord | undefined, resourceVersion = '50', uid?: string): JsonRecord {
  const conditions = condition === undefined ? [] : [condition];
  const raw = rawPod({ status: { phase: 'Running', conditions }, ...(uid === undefined ? {} : { uid }) });
  return at(raw, resourceVersion);
}

async function world(raw: JsonRecord) {
  const harness = await new Harness({ inferencereplicas: [rawReplica()], pods: [raw] }).sync();
  return { harness, context: contextOf(harness) };
}

function messages(harness: Harness): readonly unknown[] {
  return harness.bodies('PATCH').map((body) => asRecords(asRecord(body['status'])['conditions'])[0]?.['message']);
}

describe('gatePod', () => {
  it('patches the one condition of that very pod at that very version', async () => {
    const { harness, context } = await world(pod(gateCondition('True', [])));
    harness.transport.answerNext(ok(pod(gateCondition('False', [['DeleteDrain', '0']]), '230')));
    expect(await gatePod(context, gateEffect('add'))).toMatchObject({ as: 'ok' });
    const [request] = harness.transport.requests;
    expect(request).toMatchObject({
      method: 'PATCH',
      path: '/api/v1/namespaces/team-a/pods/chat-engine-0-default-0/status',
      contentType: 'application/strategic-merge-patch+json',
      body: {
        metadata: { uid: 'pod-uid-0-default-0', resourceVersion: '50' },
        status: {
          conditions: [
            {
              type: 'ome.io/serving',
              status: 'False',
              reason: 'NotReady',
              message: '[{"userAgent":"DeleteDrain","key":"0"}]',
              lastTransitionTime: '2026-01-01T00:00:00Z',
            },
          ],
        },
      },
    });
    expect(harness.caches.pods.store.get('team-a/chat-engine-0-default-0')?.view.gate.state).toBe('false');
    expect([...context.ownWrites.blind('replica-uid')]).toEqual([0]);
  });

  it('sends nothing when the gate is as wished', async () => {
    const { harness, context } = await world(pod(gateCondition('False', [['DeleteDrain', '0']])));
    expect(await gatePod(context, gateEffect('add'))).toMatchObject({ as: 'ok' });
    expect(harness.sent).toEqual([]);
  });

  it('works the list out anew after a conflict, and keeps what another writer put there [E196] [E197]', async () => {
    const { harness, context } = await world(pod(gateCondition('False', [['DeleteDrain', '0']])));
    const both = gateCondition('False', [
      ['DeleteDrain', '0'],
      ['Operator', 'x'],
    ]);
    harness.transport
      .answerNext(conflict)
      .answerNext(ok(pod(both, '220')))
      .answerNext(ok(pod(undefined, '221')));
    expect(await gatePod(context, gateEffect('remove'))).toMatchObject({ as: 'ok' });
    expect(messages(harness)).toEqual(['[]', '[{"userAgent":"Operator","key":"x"}]']);
    expect(harness.bodies('PATCH')[1]).toMatchObject({ metadata: { resourceVersion: '220' } });
  });

  it('gives up after a few conflicts and says so [E196]', async () => {
    const { harness, context } = await world(pod(gateCondition('True', [])));
    let version = 220;
    harness.answer(({ method }) =>
      method === 'GET' ? ok(pod(gateCondition('True', []), String(version++))) : conflict,
    );
    expect(await gatePod(context, gateEffect('add'))).toMatchObject({ as: 'conflict' });
    expect(harness.bodies('PATCH')).toHaveLength(4);
  });

  it('writes nothing to a pod that is another one by now [E194]', async () => {
    const { harness, context } = await world(pod(undefined, '50', 'later'));
    expect(await gatePod(context, gateEffect('add'))).toMatchObject({ as: 'conflict' });
    expect(harness.sent).toEqual([]);
  });

  it('stops when the pod has become another one meanwhile [E194]', async () => {
    const { harness, context } = await world(pod(gateCondition('True', [])));
    harness.transport.answerNext(conflict).answerNext(ok(pod(undefined, '220', 'later')));
    expect(await gatePod(context, gateEffect('add'))).toMatchObject({ as: 'conflict' });
    expect(harness.bodies('PATCH')).toHaveLength(1);
  });

  it.each([
    ['add', 'gone'],
    ['remove', 'conflict'],
  ] as const)('ends the change %s of a pod that is gone as %s [E194]', async (change, as) => {
    const { harness, context } = await world(
      pod(
        gateCondition('False', [
          ['DeleteDrain', '0'],
          ['A', 'b'],
        ]),
      ),
    );
    const effect = { ...gateEffect(change), ...(change === 'add' ? { hold: { writer: 'B', key: 'c' } } : {}) };
    harness.transport.answerNext(failure(404, 'NotFound', 'not found'));
    expect(await gatePod(context, effect)).toMatchObject({ as });
  });

  it('does not edit a list that cannot be read [E193]', async () => {
    const { harness, context } = await world(pod({ ...gateCondition('False', []), message: 'oops' }));
    const result = await gatePod(context, gateEffect('add'));
    expect(result).toMatchObject({ as: 'invalid' });
    expect(result.detail).toContain('oops');
    expect(harness.sent).toEqual([]);
  });

  it('lets a new pod in by taking its lifecycle hold back', async () => {
    const { harness, context } = await world(pod(undefined));
    harness.transport.answerNext(ok(pod(gateCondition('True', []), '230')));
    await gatePod(context, { ...gateEffect('remove'), hold: lifecycleHold });
    expect(messages(harness)).toEqual(['[]']);
  });

  it('reads a pod that the cache does not hold live', async () => {
    const { harness, context } = await world(at(rawPod({ index: 7 }), '50'));
    harness.transport.answerNext(ok(pod(gateCondition('True', []), '220'))).answerNext(ok(pod(undefined, '221')));
    expect(await gatePod(context, gateEffect('add'))).toMatchObject({ as: 'ok' });
    expect(harness.sent.map((line) => line.split(' ')[0])).toEqual(['GET', 'PATCH']);
  });

  it('is blind after a patch without an answer', async () => {
    const { harness, context } = await world(pod(gateCondition('True', [])));
    harness.transport.answerNext(new TransportError('reset', 'reset', 'maybe'));
    expect(await gatePod(context, gateEffect('add'))).toMatchObject({ as: 'unknown' });
    expect([...context.ownWrites.blind('replica-uid')]).toEqual([0]);
  });
});
