import { describe, expect, it } from '@jest/globals';
import { testing } from '@omenative/kube';
import type { JsonRecord } from '../../shared/json.js';
import { contextOf } from '../testing/effects.js';
import { at, Harness } from '../testing/harness.js';
import { discard, rawHeadless, rawReplica } from '../testing/objects.js';
import { deleteHeadless, deleteRevision, ensureHeadless, finalizer } from './objects.js';

const { ok, failure } = testing;
const covers = { by: 'rule', rule: 'object' } as const;

async function world(services: readonly JsonRecord[] = [], replica = rawReplica()) {
  const harness = await new Harness({ inferencereplicas: [replica], services }).sync();
  return { harness, context: contextOf(harness) };
}

describe('ensureHeadless', () => {
  it('creates the Service and shows it', async () => {
    const { harness, context } = await world();
    harness.answer(() => ok(at(rawHeadless(), '210'), 201));
    expect(await ensureHeadless(context)).toMatchObject({ as: 'ok' });
    expect(harness.caches.services.store.size).toBe(1);
  });

  it('puts drift right and touches nothing else', async () => {
    const drifted = rawHeadless({
      selector: { app: 'x', component: 'engine' },
      spec: { publishNotReadyAddresses: false },
    });
    const { harness, context } = await world([drifted]);
    harness.answer(() => ok(at(rawHeadless(), '210')));
    expect(await ensureHeadless(context)).toMatchObject({ as: 'ok' });
    const labels = { component: 'engine', 'ome.io/inferenceservice': 'chat', 'ome.io/managed-by': 'OMENative' };
    expect(harness.bodies('PATCH')).toEqual([
      {
        metadata: { uid: 'service-uid-chat-engine-headless', labels },
        spec: { publishNotReadyAddresses: true, selector: { ...labels, app: null } },
      },
    ]);
  });

  it('gives a port to one that has none, whose slices Kubernetes would never leave alone', async () => {
    const { harness, context } = await world([rawHeadless({ spec: { ports: [] } })]);
    harness.answer(() => ok(at(rawHeadless(), '210')));
    expect(await ensureHeadless(context)).toMatchObject({ as: 'ok' });
    expect(harness.bodies('PATCH')).toMatchObject([{ spec: { ports: [discard] } }]);
  });

  it('takes in one of ours that no cache has shown yet', async () => {
    const { harness, context } = await world();
    harness.transport.answerNext(failure(409, 'AlreadyExists', 'x')).answerNext(ok(at(rawHeadless(), '205')));
    expect(await ensureHeadless(context)).toMatchObject({ as: 'exists' });
    expect(harness.caches.services.store.size).toBe(1);
  });

  it("neither adopts nor deletes another's [B105]", async () => {
    const { harness, context } = await world();
    harness.transport
      .answerNext(failure(409, 'AlreadyExists', 'x'))
      .answerNext(ok(at(rawHeadless({ owner: 'o' }), '205')));
    expect(await ensureHeadless(context)).toMatchObject({ as: 'nameTaken' });
    expect(harness.sent.map((line) => line.split(' ')[0])).toEqual(['POST', 'GET']);
  });
});

describe('deleteHeadless', () => {
  it('deletes that very Service', async () => {
    const { harness, context } = await world([rawHeadless()]);
    harness.answer(() => ok({ kind: 'Status', status: 'Success' }));
    expect(await deleteHeadless(context)).toMatchObject({ as: 'ok' });
    expect(harness.bodies('DELETE')).toMatchObject([{ preconditions: { uid: 'service-uid-chat-engine-headless' } }]);
    expect(harness.caches.services.store.size).toBe(0);
  });

  it('has nothing to do when there is none', async () => {
    const { harness, context } = await world();
    expect(await deleteHeadless(context)).toMatchObject({ as: 'gone' });
    expect(harness.sent).toEqual([]);
  });
});

describe('deleteRevision', () => {
  const effect = { do: 'deleteRevision', key: 'k', covers, rev: 'chat-engine-11111111', uid: 'rev-uid' } as const;

  it('deletes that very revision, and is content when it is gone', async () => {
    const { harness, context } = await world();
    harness.transport.answerNext(ok({ kind: 'Status' })).answerNext(failure(404, 'NotFound', 'x'));
    expect(await deleteRevision(context, effect)).toMatchObject({ as: 'ok' });
    expect(await deleteRevision(context, effect)).toMatchObject({ as: 'gone' });
    expect(harness.bodies('DELETE')[0]).toMatchObject({ preconditions: { uid: 'rev-uid' } });
  });
});

describe('finalizer', () => {
  const remove = { do: 'finalizer', key: 'k', covers, change: 'remove' } as const;

  it("removes ours and nobody else's", async () => {
    const raw = rawReplica({ metadata: { finalizers: ['x/y', 'ome.io/ir-teardown'] } });
    const { harness, context } = await world([], raw);
    harness.answer(() => ok(at(raw, '210', { metadata: { finalizers: ['x/y'] } })));
    expect(await finalizer(context, remove)).toMatchObject({ as: 'ok' });
    expect(harness.bodies('PATCH')).toEqual([
      [
        { op: 'test', path: '/metadata/uid', value: 'replica-uid' },
        { op: 'test', path: '/metadata/finalizers/1', value: 'ome.io/ir-teardown' },
        { op: 'remove', path: '/metadata/finalizers/1' },
      ],
    ]);
  });

  it('looks at what is there after a conflict', async () => {
    const { harness, context } = await world();
    harness.transport.answerNext(failure(409, 'Conflict', 'x')).answerNext(ok(at(rawReplica(), '230')));
    expect(await finalizer(context, remove)).toMatchObject({ as: 'conflict' });
    expect(harness.caches.replicas.store.get('team-a/chat-engine')?.meta.resourceVersion).toBe('230');
  });

  it('ends with the object', async () => {
    const { harness, context } = await world();
    harness.answer(() => failure(404, 'NotFound', 'x'));
    expect(await finalizer(context, remove)).toMatchObject({ as: 'gone' });
    expect(harness.caches.replicas.store.size).toBe(0);
  });

  it('sends nothing when it is as wished', async () => {
    const { harness, context } = await world();
    expect(await finalizer(context, { ...remove, change: 'add' })).toMatchObject({ as: 'ok' });
    expect(harness.sent).toEqual([]);
  });
});
