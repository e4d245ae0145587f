import { describe, expect, it } from '@jest/globals';
import { type DecodedStatus, emptyStatus } from '@omenative/api';
import { TransportError, testing } from '@omenative/kube';
import { type Persisted, persistStatus } from './persist.js';
import { type ReplicaRecord, replicaRecordOf } from './replica-record.js';
import { at, Harness } from './testing/harness.js';
import { rawReplica } from './testing/objects.js';

const { ok, failure } = testing;
const next: DecodedStatus = { ...emptyStatus, collisionCount: 3 };
const raw = rawReplica({ metadata: { managedFields: [{ manager: 'x' }] } });
const path = '/apis/ome.io/v1beta1/namespaces/team-a/inferencereplicas/chat-engine';

async function world(): Promise<{
  readonly harness: Harness;
  readonly replica: ReplicaRecord;
  readonly seen: string[];
}> {
  const harness = await new Harness({ inferencereplicas: [raw] }).sync();
  return { harness, replica: replicaRecordOf(raw), seen: [] };
}

function write(harness: Harness, replica: ReplicaRecord, seen: string[], status = next): Promise<Persisted> {
  const metrics = {
    passFinished() {},
    effectFinished() {},
    floorUnreached() {},
    statusWritten: (result: string) => seen.push(result),
  };
  return persistStatus({ client: harness.client, replicas: harness.caches.replicas, metrics }, replica, status);
}

describe('persistStatus', () => {
  it('puts the whole object back over the version it was read at', async () => {
    const { harness, replica, seen } = await world();
    harness.answer(({ body }) => ok(at(body as typeof raw, '201')));
    const persisted = await write(harness, replica, seen);
    expect(harness.sent).toEqual([`PUT ${path}/status`]);
    expect(harness.bodies('PUT')[0]).toMatchObject({
      metadata: { uid: 'replica-uid', resourceVersion: '100' },
      spec: raw['spec'],
      status: { collisionCount: 3 },
    });
    expect(harness.bodies('PUT')[0]).not.toHaveProperty('metadata.managedFields');
    expect(persisted).toMatchObject({ is: 'written', replica: { meta: { resourceVersion: '201' } } });
    expect(harness.caches.replicas.store.get('team-a/chat-engine')?.meta.resourceVersion).toBe('201');
    expect(seen).toEqual(['written']);
  });

  it('writes nothing when nothing has changed [E189]', async () => {
    const { harness, replica, seen } = await world();
    expect(await write(harness, replica, seen, emptyStatus)).toEqual({ is: 'unchanged', replica });
    expect(harness.sent).toEqual([]);
  });

  it('reads and takes in what somebody else wrote, and does not write its draft again', async () => {
    const { harness, replica, seen } = await world();
    harness.transport.answerNext(failure(409, 'Conflict', 'the object has been modified'));
    harness.transport.answerNext(ok(at(raw, '205', { status: { collisionCount: 9 } })));
    expect(await write(harness, replica, seen)).toEqual({ is: 'stale' });
    expect(harness.sent).toEqual([`PUT ${path}/status`, `GET ${path}`]);
    expect(harness.caches.replicas.store.get('team-a/chat-engine')?.meta.resourceVersion).toBe('205');
    expect(seen).toEqual(['conflict']);
  });

  it.each([
    ['the object is gone', failure(404, 'NotFound', 'not found')],
    ['another object has its name', ok(at(raw, '205', { metadata: { uid: 'another' } }))],
  ])('stops quietly when %s [E213]', async (_, answer) => {
    const { harness, replica, seen } = await world();
    harness.transport.answerNext(failure(409, 'Conflict', 'the object has been modified')).answerNext(answer);
    expect(await write(harness, replica, seen)).toEqual({ is: 'gone' });
    expect(harness.caches.replicas.store.get('team-a/chat-engine')).toBeUndefined();
  });

  it('stops quietly when the write itself finds nothing [E213]', async () => {
    const { harness, replica, seen } = await world();
    harness.transport.answerNext(failure(404, 'NotFound', 'not found'));
    expect(await write(harness, replica, seen)).toEqual({ is: 'gone' });
    expect(seen).toEqual(['gone']);
  });

  it('looks what became of a write without an answer', async () => {
    const { harness, replica, seen } = await world();
    harness.transport.answerNext(new TransportError('reset', 'reset', 'maybe'));
    harness.transport.answerNext(ok(at(raw, '203', { status: { collisionCount: 3 } })));
    expect(await write(harness, replica, seen)).toEqual({ is: 'stale' });
    expect(harness.caches.replicas.store.get('team-a/chat-engine')?.meta.resourceVersion).toBe('203');
    expect(seen).toEqual(['unanswered']);
  });

  it('knows nothing when neither the write nor the look is answered', async () => {
    const { harness, replica, seen } = await world();
    harness.answer(() => new TransportError('reset', 'reset', 'maybe'));
    expect(await write(harness, replica, seen)).toEqual({ is: 'unreachable' });
  });

  it.each([
    ['no connection', new TransportError('refused', 'refused', 'no')],
    ['no lease', new TransportError('fenced', 'fenced', 'no')],
    ['a throttle', failure(429, 'TooManyRequests', 'slow down')],
  ])('tries later after %s', async (_, answer) => {
    const { harness, replica, seen } = await world();
    harness.transport.answerNext(answer);
    expect(await write(harness, replica, seen)).toEqual({ is: 'unreachable' });
    expect(harness.sent).toHaveLength(1);
  });

  it.each([
    ['too large', failure(413, 'RequestEntityTooLarge', 'limit is 3145728')],
    ['invalid', failure(422, 'Invalid', 'status.x: Invalid value')],
  ])('passes on the refusal of a status that is %s', async (_, answer) => {
    const { harness, replica, seen } = await world();
    harness.transport.answerNext(answer);
    await expect(write(harness, replica, seen)).rejects.toThrow(answer.status === 413 ? 'limit is' : 'Invalid value');
    expect(seen).toEqual(['refused']);
  });
});
