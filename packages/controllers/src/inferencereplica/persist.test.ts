import { describe, expect, it } from '@jest/globals';
import {
  chosenEncoding,
  type DecodedStatus,
  emptyStatus,
  encodeAs,
  type InstanceRow,
  newRowBase,
  statusBytes,
} from '@omenative/api';
import { TransportError, testing } from '@omenative/kube';
import type { ReplicaMetrics } from './metrics.js';
import { noMetrics } from './metrics.js';
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

const columnar = { encoding: 'ColumnarV2', maxDecodedInstances: 20_000 } as const;

function write(harness: Harness, replica: ReplicaRecord, seen: string[], status = next): Promise<Persisted> {
  const metrics: ReplicaMetrics = {
    ...noMetrics,
    statusWritten: (encoding, result) => seen.push(`${encoding} ${result}`),
    statusStored: (written) => seen.push(JSON.stringify(written)),
    codecFailed: (reason) => seen.push(reason),
  };
  const { client, caches } = harness;
  return persistStatus({ client, replicas: caches.replicas, metrics, statusEncoding: columnar }, replica, status);
}

/** What is measured of a status that got stored, in the order of the calls. */
function stored(status: DecodedStatus, more: object = {}): string {
  const encoding = chosenEncoding(status, columnar);
  const of = { namespace: 'team-a', name: 'chat-engine', component: 'engine' };
  return JSON.stringify({ ...of, encoding, bytes: statusBytes(status, encoding), ...more });
}

/** A status with this many Instances at rest. */
function readyStatus(count: number): DecodedStatus {
  const rows = Array.from(
    { length: count },
    (_, index): InstanceRow => ({ ...newRowBase(index), kind: 'ready', running: 'chat-engine-0a1b2c3d' }),
  );
  return { ...emptyStatus, rows: new Map(rows.map((row) => [row.index, row])), order: rows.map((row) => row.index) };
}

describe('persistStatus', () => {
  it('puts the whole object back over the version it was read at, and measures one attempt and one commit [E183]', async () => {
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
    expect(seen).toEqual(['DenseV1 attempt', 'DenseV1 committed', stored(next)]);
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
    expect(await write(harness, replica, seen)).toMatchObject({ is: 'stale' });
    expect(harness.sent).toEqual([`PUT ${path}/status`, `GET ${path}`]);
    expect(harness.caches.replicas.store.get('team-a/chat-engine')?.meta.resourceVersion).toBe('205');
    expect(seen).toEqual(['DenseV1 attempt', 'DenseV1 conflict']);
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
    expect(seen).toEqual(['DenseV1 attempt', 'DenseV1 error']);
  });

  it('looks what became of a write without an answer', async () => {
    const { harness, replica, seen } = await world();
    harness.transport.answerNext(new TransportError('reset', 'reset', 'maybe'));
    harness.transport.answerNext(ok(at(raw, '203', { status: { collisionCount: 3 } })));
    expect(await write(harness, replica, seen)).toMatchObject({ is: 'stale' });
    expect(harness.caches.replicas.store.get('team-a/chat-engine')?.meta.resourceVersion).toBe('203');
    expect(seen).toEqual(['DenseV1 attempt', 'DenseV1 confirmed', stored(next)]);
  });

  it('does not take somebody else’s status for its own that went unanswered', async () => {
    const { harness, replica, seen } = await world();
    harness.transport.answerNext(new TransportError('reset', 'reset', 'maybe'));
    harness.transport.answerNext(ok(at(raw, '203', { status: { collisionCount: 4 } })));
    expect(await write(harness, replica, seen)).toMatchObject({ is: 'stale' });
    expect(seen).toEqual(['DenseV1 attempt', 'DenseV1 error']);
  });

  it('writes columns where they are smaller, and gives back what a fresh read gives [E183]', async () => {
    const { harness, replica, seen } = await world();
    const status = readyStatus(40);
    harness.answer(({ body }) => ok(at(JSON.parse(JSON.stringify(body)) as typeof raw, '201')));
    const persisted = await write(harness, replica, seen, status);
    expect(harness.bodies('PUT')[0]).toMatchObject({ status: { instanceStatusEncoding: 'ColumnarV2' } });
    expect(seen).toEqual(['ColumnarV2 attempt', 'ColumnarV2 committed', stored(status)]);
    if (persisted.is !== 'written') throw new Error(persisted.is);
    expect(persisted.replica.status).toEqual({ ok: true, status: { ...status, stored: 'ColumnarV2' } });
    expect(harness.caches.replicas.store.get('team-a/chat-engine')?.status).toEqual(persisted.replica.status);
  });

  it('measures a conversion when rows change their encoding', async () => {
    const { harness, seen } = await world();
    const before = encodeAs(readyStatus(40), 'DenseV1').status;
    const replica = replicaRecordOf({ ...raw, status: before });
    const status = { ...readyStatus(40), collisionCount: 1 };
    harness.answer(({ body }) => ok(at(JSON.parse(JSON.stringify(body)) as typeof raw, '201')));
    await write(harness, replica, seen, status);
    expect(seen.at(-1)).toBe(stored(status, { convertedFrom: 'DenseV1' }));
  });

  it('counts a status that can not be written out, and sends nothing', async () => {
    const { harness, replica, seen } = await world();
    const row: InstanceRow = { ...newRowBase(0), kind: 'ready', readySince: Number.NaN };
    const status = { ...emptyStatus, rows: new Map([[0, row]]) };
    await expect(write(harness, replica, seen, status)).rejects.toThrow(RangeError);
    expect(seen).toEqual(['value_domain']);
    expect(harness.sent).toEqual([]);
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
    expect(seen).toEqual(['DenseV1 attempt', `DenseV1 ${answer.status === 413 ? 'rejected' : 'error'}`]);
  });
});
