import { describe, expect, it } from '@jest/globals';
import type { AckMail } from '@omenative/engine';
import { TransportError, testing } from '@omenative/kube';
import { contextOf } from '../testing/effects.js';
import { at, Harness } from '../testing/harness.js';
import { rawReplica } from '../testing/objects.js';
import { ackMail } from './mail.js';

const { ok, failure } = testing;
const path = '/apis/ome.io/v1beta1/namespaces/team-a/inferencereplicas/chat-engine';
const effect: AckMail = {
  do: 'ackMail',
  key: 'ackMail/ome.io/reset-instances/object',
  covers: { by: 'rule', rule: 'object' },
  annotation: 'ome.io/reset-instances',
  value: '0,3',
};

async function world() {
  const harness = await new Harness({ inferencereplicas: [rawReplica()] }).sync();
  return { harness, context: contextOf(harness) };
}

describe('ackMail', () => {
  it('removes that request, as it was read, from that very replica', async () => {
    const { harness, context } = await world();
    harness.transport.answerNext(ok(at(rawReplica(), '230')));
    expect(await ackMail(context, effect)).toMatchObject({ as: 'ok' });
    expect(harness.transport.requests).toMatchObject([
      { method: 'PATCH', path, contentType: 'application/json-patch+json' },
    ]);
    expect(harness.bodies('PATCH')).toEqual([
      [
        { op: 'test', path: '/metadata/uid', value: 'replica-uid' },
        { op: 'test', path: '/metadata/annotations/ome.io~1reset-instances', value: '0,3' },
        { op: 'remove', path: '/metadata/annotations/ome.io~1reset-instances' },
      ],
    ]);
    expect(harness.caches.replicas.store.get('team-a/chat-engine')?.meta.resourceVersion).toBe('230');
  });

  it.each([
    ['gone', 'there is a newer request, or none any more', failure(422, 'Invalid', 'the server rejected our request')],
    ['gone', 'the replica is gone', failure(404, 'NotFound', 'not found')],
    ['throttled', 'the server is busy', failure(429, 'TooManyRequests', 'slow down')],
    ['unknown', 'nobody answers', new TransportError('timeout', 'timeout', 'maybe')],
  ])('ends as %s when %s', async (as, _, answer) => {
    const { harness, context } = await world();
    harness.transport.answerNext(answer);
    expect(await ackMail(context, effect)).toMatchObject({ as });
    expect(harness.sent).toHaveLength(1);
  });
});
