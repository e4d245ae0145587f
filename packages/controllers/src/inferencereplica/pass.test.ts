import { describe, expect, it } from '@jest/globals';
import { type Effect, type Plan, plan, type Snapshot } from '@omenative/engine';
import { type ApiRequest, type ApiResponse, TransportError, testing } from '@omenative/kube';
import { asRecord, type JsonRecord } from '../shared/json.js';
import { chainOf, contextOf, coveredStatus, createEffect, deleteEffect } from './testing/effects.js';
import { at, Harness } from './testing/harness.js';
import { discard, rawHeadless, rawPod, rawReplica } from './testing/objects.js';
import { idle, passesOf, planned } from './testing/passes.js';

const { ok, failure, listOf } = testing;
const conflict = failure(409, 'Conflict', 'the object has been modified');
const parent = {
  metadata: { name: 'chat', namespace: 'team-a', uid: 'parent-uid', resourceVersion: '10' },
};

async function world(raw: JsonRecord = rawReplica(), more: Readonly<Record<string, readonly JsonRecord[]>> = {}) {
  return new Harness({ inferencereplicas: [raw], inferenceservices: [parent], ...more }).sync();
}

let version = 300;
/** Accepts every write. */
function accept({ method, body }: ApiRequest): ApiResponse {
  version++;
  if (method === 'DELETE') return ok({ kind: 'Status', status: 'Success' });
  return ok(at(body as JsonRecord, String(version)));
}

const createRevision = (rev: string): Effect => ({
  do: 'createRevision',
  key: 'r',
  covers: { by: 'rule', rule: 'object' },
  rev,
});

function statusesOf(harness: Harness): readonly JsonRecord[] {
  return harness.bodies('PUT').map((body) => asRecord(body['status']));
}

/** Plans in which only counters move. */
function counting(snapshot: Snapshot, call: number) {
  return planned(
    snapshot,
    { collisionCount: call },
    {
      urgency: 'coalesce',
      events: [{ reason: 'X', type: 'Normal', episode: String(call), text: 't' }],
    },
  );
}

function wantsProof(snapshot: Snapshot): Plan {
  return snapshot.proofs.readIndices.has(0) ? idle : { ...idle, reads: [{ read: 'podsOfIndex', index: 0 } as const] };
}

function preparing(snapshot: Snapshot) {
  return planned(snapshot, { update: snapshot.specRevision }, { prepare: [createRevision(snapshot.specRevision)] });
}

describe('runPass', () => {
  it('prepares, persists, tells and acts, in this order', async () => {
    const harness = await world(rawReplica(), { pods: [rawPod()] });
    harness.answer(accept);
    const passes = passesOf(harness, (snapshot) =>
      planned(snapshot, coveredStatus, {
        prepare: [createRevision(snapshot.specRevision)],
        chains: [chainOf('delete', deleteEffect(0, 'none'))],
        events: [{ reason: 'InstanceCreated', type: 'Normal', episode: 'e', text: 't' }],
        wakeAt: snapshot.now + 60,
      }),
    );
    const end = await passes.run();
    expect(harness.sent.map((line) => line.split('/').slice(-2).join('/'))).toEqual([
      'team-a/controllerrevisions',
      'chat-engine/status',
      'pods/chat-engine-0-default-0',
    ]);
    expect(end).toEqual({ again: 'now', wakeAtMs: 1_767_225_660_000 });
    expect(harness.recorded).toMatchObject([
      { reason: 'InstanceCreated', regarding: { kind: 'InferenceService', name: 'chat' } },
    ]);
    expect(harness.logged).toEqual(['Instance 0 is Creating (Create/CreatePods)']);
    expect([...passes.deps.inbox.of('replica-uid').keys()]).toEqual(['delete/0']);
  });

  it('writes nothing and asks for nothing when the plan wants nothing [E189]', async () => {
    const harness = await world();
    expect(await passesOf(harness, () => idle).run()).toEqual({ again: 'whenWoken' });
    expect(harness.sent).toEqual([]);
  });

  it('plans anew on what somebody else wrote, and keeps it [E184] [E212]', async () => {
    const harness = await world();
    harness.transport
      .answerNext(conflict)
      .answerNext(ok(at(rawReplica({ status: { labelSelector: 'theirs' } }), '210')))
      .answerNext(accept);
    const passes = passesOf(harness, (snapshot, call) => planned(snapshot, { collisionCount: call }));
    await passes.run();
    expect(passes.snapshots.map((snapshot) => snapshot.status.labelSelector)).toEqual(['', 'theirs']);
    expect(statusesOf(harness)[1]).toMatchObject({ labelSelector: 'theirs', collisionCount: 2 });
    expect(harness.bodies('PUT')[1]).toMatchObject({ metadata: { resourceVersion: '210' } });
  });

  it('plans anew on a spec that was edited meanwhile: what was counted for the old one is written for no other [E190]', async () => {
    const harness = await world();
    const edited = rawReplica({ spec: { replicas: 2 }, metadata: { generation: 2 } });
    harness.transport
      .answerNext(conflict)
      .answerNext(ok(at(edited, '210')))
      .answerNext(accept);
    const passes = passesOf(harness, (snapshot) =>
      planned(snapshot, { observedGeneration: snapshot.replica.generation, collisionCount: snapshot.spec.replicas }),
    );
    await passes.run();
    expect(statusesOf(harness)[1]).toMatchObject({ observedGeneration: 2, collisionCount: 2 });
    expect(harness.bodies('PUT')[1]).toMatchObject({ metadata: { resourceVersion: '210', generation: 2 } });
  });

  it('tries later when others write faster', async () => {
    const harness = await world();
    let theirs = 400;
    harness.answer(({ method }) => (method === 'GET' ? ok(at(rawReplica(), String(theirs++))) : conflict));
    expect(await passesOf(harness, (snapshot) => planned(snapshot, { collisionCount: 1 })).run()).toEqual({
      again: 'backoff',
    });
    expect(harness.bodies('PUT')).toHaveLength(4);
  });

  it('acts upon nothing while it is not known whether the status was written', async () => {
    const harness = await world(rawReplica(), { pods: [rawPod()] });
    harness.answer(() => new TransportError('reset', 'reset', 'maybe'));
    const passes = passesOf(harness, (snapshot) =>
      planned(snapshot, coveredStatus, {
        chains: [chainOf('delete', deleteEffect(0, 'none'))],
        events: [{ reason: 'X', type: 'Normal', episode: 'e', text: 't' }],
      }),
    );
    expect(await passes.run()).toEqual({ again: 'backoff' });
    expect(harness.bodies('DELETE')).toEqual([]);
    expect(harness.recorded).toEqual([]);
  });

  it('looks again at once when something was refused: only a plan that knows of it says when to try again [B03]', async () => {
    const harness = await world(rawReplica(), { pods: [rawPod()] });
    harness.answer(() => failure(422, 'Invalid', 'no'));
    const chains = [
      chainOf('misc', { do: 'ensureHeadless', key: 'x', covers: { by: 'rule', rule: 'object' } } as const),
    ];
    expect(await passesOf(harness, () => ({ ...idle, chains })).run()).toEqual({ again: 'now' });
  });

  it('stops quietly when the replica is gone: no effect, no event, no error [E213]', async () => {
    const harness = await world(rawReplica(), { pods: [rawPod()] });
    harness.answer(() => failure(404, 'NotFound', 'not found'));
    const passes = passesOf(harness, (snapshot) =>
      planned(snapshot, coveredStatus, { chains: [chainOf('delete', deleteEffect(0, 'none'))] }),
    );
    expect(await passes.run()).toEqual({ again: 'whenWoken' });
    expect(harness.sent).toEqual([expect.stringMatching(/^PUT/)]);
  });

  it('creates no pods for a replica that is gone by the time its status is written [E6]', async () => {
    const bare = await world();
    const name = contextOf(bare).observation.snapshot.specRevision;
    const owner = { kind: 'InferenceReplica', name: 'chat-engine', uid: 'replica-uid', controller: true };
    const revision = {
      metadata: {
        name,
        namespace: 'team-a',
        uid: 'rev-uid',
        resourceVersion: '60',
        labels: { 'ome.io/managed-by': 'OMENative' },
        ownerReferences: [owner],
      },
      data: { podSpec: { containers: [{ name: 'main', image: 'registry/engine:1' }] }, podMeta: null },
      revision: 1,
    };
    const posts = async (answer: Parameters<typeof bare.answer>[0]): Promise<number> => {
      const harness = await world(rawReplica(), { controllerrevisions: [revision] });
      harness.answer(answer);
      await passesOf(harness, (snapshot) =>
        planned(snapshot, coveredStatus, { chains: [chainOf('create', createEffect(name))] }),
      ).run();
      return harness.bodies('POST').length;
    };
    expect(await posts(accept)).toBe(1);
    expect(await posts(() => failure(404, 'NotFound', 'not found'))).toBe(0);
  });

  it('says on the InferenceService that a status is too large, and passes the error on [E185]', async () => {
    const harness = await world();
    harness.answer(() => failure(500, 'InternalError', 'etcdserver: request is too large'));
    const passes = passesOf(harness, (snapshot) => planned(snapshot, coveredStatus));
    await expect(passes.run()).rejects.toThrow('request is too large');
    expect(harness.recorded).toMatchObject([
      {
        reason: 'StatusSizeExceeded',
        type: 'Warning',
        regarding: { kind: 'InferenceService' },
        message: expect.stringMatching(/: status write of [1-9][0-9]* bytes \(DenseV1\)/),
      },
    ]);
  });

  it('tells no event for other refusals of a status [E185]', async () => {
    const harness = await world();
    harness.answer(() => failure(422, 'Invalid', 'no'));
    await expect(passesOf(harness, (snapshot) => planned(snapshot, coveredStatus)).run()).rejects.toThrow('Invalid');
    expect(harness.recorded).toEqual([]);
  });

  it('says which permission its account lacks, and tries again', async () => {
    const harness = await world();
    const forbidden = 'pods "p" is forbidden: User "u" cannot delete resource "pods" in API group ""';
    harness.answer((request) => (request.method === 'DELETE' ? failure(403, 'Forbidden', forbidden) : accept(request)));
    const passes = passesOf(harness, (snapshot) =>
      planned(snapshot, coveredStatus, { chains: [chainOf('delete', deleteEffect(0, 'none'))] }),
    );
    expect(await passes.run()).toMatchObject({ again: 'backoff' });
    expect(harness.recorded).toMatchObject([
      { reason: 'NotPermitted', type: 'Warning', message: expect.stringContaining(`${forbidden}; it is tried again`) },
    ]);
  });

  it('does nothing for a status that it cannot decode but say so, once an episode [E187]', async () => {
    const harness = await world(rawReplica({ status: { instanceStatusEncoding: 'Mystery' } }));
    const passes = passesOf(harness, () => idle);
    expect(await passes.run()).toEqual({ again: 'whenWoken' });
    await passes.run();
    expect(passes.snapshots).toEqual([]);
    expect(harness.sent).toEqual([]);
    const [first, second] = harness.recorded;
    expect(first).toMatchObject({
      reason: 'InstanceStatusDecodeFailed',
      type: 'Warning',
      regarding: { kind: 'InferenceReplica', name: 'chat-engine' },
    });
    expect(second?.episode).toBe(first?.episode);
  });

  it('writes rows of another encoding anew, once and before anything else, and says so [E182] [E186]', async () => {
    const rows = { members: '0-29', phases: [{ value: 'Ready', indexes: '0-29' }] };
    const status = { instanceStatusEncoding: 'ColumnarV2', instanceStatusColumns: rows };
    const harness = await world(rawReplica({ status }), { pods: [rawPod()] });
    harness.answer(accept);
    const passes = passesOf(harness, () => idle);
    expect(await passes.run()).toEqual({ again: 'now' });
    expect(passes.snapshots).toEqual([]);
    const [written] = statusesOf(harness);
    expect(written).not.toHaveProperty('instanceStatusEncoding');
    expect(written).toMatchObject({ instanceStatuses: Array.from({ length: 30 }, (_, index) => ({ index })) });
    expect(harness.recorded).toMatchObject([
      {
        reason: 'InstanceStatusConverted',
        type: 'Normal',
        regarding: { kind: 'InferenceReplica' },
        message: expect.stringContaining('per-Instance status was rewritten from ColumnarV2 to DenseV1 (30 Instances)'),
      },
    ]);

    await passes.run();
    expect(passes.snapshots).toHaveLength(1);
    expect(harness.sent).toHaveLength(1);
    expect(harness.recorded).toHaveLength(1);
  });

  describe('counters alone', () => {
    it('are written a second apart, and then told', async () => {
      const harness = await world();
      harness.answer(accept);
      const passes = passesOf(harness, counting);
      await passes.run();
      await harness.runtime.advance(400);
      expect(await passes.run()).toEqual({ again: 'whenWoken', wakeAtMs: harness.runtime.nowMs() + 600 });
      expect(statusesOf(harness)).toHaveLength(1);
      expect(harness.recorded).toHaveLength(1);
      await harness.runtime.advance(600);
      await passes.run();
      expect(statusesOf(harness)).toHaveLength(2);
      expect(harness.recorded).toHaveLength(2);
    });

    it('go along at once with anything else', async () => {
      const harness = await world();
      harness.answer(accept);
      const passes = passesOf(harness, (snapshot, call) => ({
        ...counting(snapshot, call),
        urgency: call === 2 ? 'now' : 'coalesce',
      }));
      await passes.run();
      await passes.run();
      expect(statusesOf(harness)).toHaveLength(2);
    });

    it('hold no effect back', async () => {
      const harness = await world(rawReplica(), { pods: [rawPod()] });
      harness.answer(accept);
      const refill = { ...deleteEffect(0, 'none'), covers: { by: 'rule', rule: 'alien' } } as const;
      const passes = passesOf(harness, (snapshot, call) => ({
        ...counting(snapshot, call),
        chains: call === 2 ? [chainOf('delete', refill)] : [],
      }));
      await passes.run();
      await passes.run();
      expect(harness.bodies('DELETE')).toHaveLength(1);
    });
  });

  describe('live reads', () => {
    it('prove what is not there, and show what is', async () => {
      const harness = await world(rawReplica(), { pods: [rawPod()] });
      harness.transport.answerNext(listOf([at(rawPod({ ordinal: 1 }), '230')], '240'));
      const passes = passesOf(harness, wantsProof);
      await passes.run();
      expect(harness.transport.requests[0]?.query).toMatchObject({
        labelSelector:
          'component=engine,ome.io/inferenceservice=chat,ome.io/instance-index=0,ome.io/managed-by=OMENative',
      });
      const [, second] = passes.snapshots;
      expect([...(second?.proofs.absentPods ?? [])]).toEqual(['chat-engine-0-default-0']);
      expect(second?.pods.get(0)?.map((pod) => pod.name)).toEqual(['chat-engine-0-default-1']);
    });

    it('prove nothing when they fail', async () => {
      const harness = await world();
      harness.answer(() => failure(500, 'InternalError', 'etcd is away'));
      const passes = passesOf(harness, wantsProof);
      await expect(passes.run()).rejects.toThrow('etcd is away');
      expect(passes.snapshots).toHaveLength(1);
    });

    it('end, also when a plan never has enough', async () => {
      const harness = await world();
      harness.answer(() => listOf([], '240'));
      const passes = passesOf(harness, (_, call) => ({ ...idle, reads: [{ read: 'podsOfIndex', index: call }] }));
      expect(await passes.run()).toEqual({ again: 'backoff' });
    });
  });

  describe('revision names', () => {
    const taken = failure(409, 'AlreadyExists', 'already exists');

    it.each([
      ['another template of ours', 'replica-uid'],
      ['an object of somebody else', 'someone'],
    ])('are salted, before they are used, when %s has one', async (_, uid) => {
      const harness = await world();
      const holder = {
        metadata: {
          name: 'x',
          namespace: 'team-a',
          uid: 'h',
          resourceVersion: '9',
          ownerReferences: [{ uid, controller: true }],
        },
        data: { podSpec: { containers: [] } },
      };
      harness.transport.answerNext(taken).answerNext(ok(holder)).answerNext(accept);
      const passes = passesOf(harness, preparing);
      expect(await passes.run()).toEqual({ again: 'backoff' });
      expect(statusesOf(harness)).toEqual([expect.objectContaining({ collisionCount: 1 })]);
      expect(statusesOf(harness)[0]).not.toHaveProperty('updateRevision');
      expect(harness.recorded).toMatchObject([{ reason: 'RevisionCollision', type: 'Warning' }]);
      harness.answer(accept);
      await passes.run();
      const [first, second] = passes.snapshots.map((snapshot) => snapshot.specRevision);
      expect(first).not.toBe(second);
      expect(statusesOf(harness)[1]).toMatchObject({ updateRevision: second });
    });

    it('are used when the one that is there says the same', async () => {
      const harness = await world();
      harness.transport.answerNext(taken);
      harness.transport.answerNext((request) => {
        const name = request.path.split('/').at(-1);
        const [sent] = harness.bodies('POST');
        const metadata = { ...asRecord(sent?.['metadata']), name, uid: 'h', resourceVersion: '230' };
        return ok({ ...sent, metadata });
      });
      harness.transport.answerNext(accept);
      const passes = passesOf(harness, preparing);
      await passes.run();
      expect(statusesOf(harness)).toEqual([
        expect.objectContaining({ updateRevision: passes.snapshots[0]?.specRevision }),
      ]);
    });

    it('are not written into a status before the revision exists', async () => {
      const harness = await world();
      harness.answer(() => failure(403, 'Forbidden', 'no'));
      expect(await passesOf(harness, preparing).run()).toEqual({ again: 'backoff' });
      expect(statusesOf(harness)).toEqual([]);
    });
  });

  describe('the finalizer', () => {
    const bare = rawReplica({ metadata: { finalizers: undefined } });

    it('is put on first, by a version that nobody else has moved [E217]', async () => {
      const harness = await world(bare);
      harness.transport.answerNext((request) => {
        expect(request).toMatchObject({
          method: 'PATCH',
          body: [
            { op: 'test', path: '/metadata/uid', value: 'replica-uid' },
            { op: 'test', path: '/metadata/resourceVersion', value: '100' },
            { op: 'add', path: '/metadata/finalizers', value: ['ome.io/ir-teardown'] },
          ],
        });
        return ok(at(rawReplica(), '220'));
      });
      harness.answer(accept);
      await passesOf(harness, plan).run();
      expect(harness.sent[0]).toMatch(/^PATCH .*chat-engine$/);
      // Nothing is persisted over the version before the finalizer.
      expect(harness.bodies('PUT')[0]).toMatchObject({
        metadata: { resourceVersion: '220', finalizers: ['ome.io/ir-teardown'] },
      });
    });

    it('is missed no more once the object is going: then nothing is done at all [E218]', async () => {
      const dying = { finalizers: ['x/y'], deletionTimestamp: '2026-01-01T00:00:00Z' };
      const harness = await world(rawReplica({ metadata: dying }), { pods: [rawPod()] });
      expect(await passesOf(harness, plan).run()).toEqual({ again: 'whenWoken' });
      expect(harness.sent).toEqual([]);
    });

    it('takes down a replica whose spec cannot be run', async () => {
      const dying = { deletionTimestamp: '2026-01-01T00:00:00Z' };
      const harness = await world(rawReplica({ spec: { runners: [] }, metadata: dying }));
      harness.answer(accept);
      await passesOf(harness, plan).run();
      expect(harness.bodies('PATCH')).toEqual([
        [
          { op: 'test', path: '/metadata/uid', value: 'replica-uid' },
          { op: 'test', path: '/metadata/finalizers/0', value: 'ome.io/ir-teardown' },
          { op: 'remove', path: '/metadata/finalizers/0' },
        ],
      ]);
    });
  });

  it('says once that a name is taken by what is not ours [B105]', async () => {
    const harness = await world(rawReplica());
    const foreign = { metadata: { name: 'chat-engine-headless', namespace: 'team-a', uid: 'f', resourceVersion: '9' } };
    harness.answer(({ method }) => (method === 'GET' ? ok(foreign) : failure(409, 'AlreadyExists', 'already exists')));
    const covers = { by: 'rule', rule: 'object' } as const;
    const effect = { do: 'ensureHeadless', key: 'ensureHeadless/chat-engine-headless', covers } as const;
    const passes = passesOf(harness, () => ({ ...idle, chains: [chainOf('misc', effect)] }));
    await passes.run();
    expect(harness.recorded).toMatchObject([
      { reason: 'NameTaken', type: 'Warning', episode: 'ensureHeadless/chat-engine-headless' },
    ]);
    expect(harness.recorded[0]?.message).toContain('Service chat-engine-headless exists');
  });

  it('warns of a rollback to the revision of another, and runs the spec', async () => {
    const foreign = {
      metadata: {
        name: 'chat-engine-11111111',
        namespace: 'team-a',
        uid: 'f',
        resourceVersion: '9',
        labels: { 'ome.io/managed-by': 'OMENative' },
      },
      data: { podSpec: {} },
    };
    const spec = { pacing: { rollbackToRevision: 'chat-engine-11111111' } };
    const harness = await world(rawReplica({ spec }), { controllerrevisions: [foreign] });
    const passes = passesOf(harness, () => idle);
    await passes.run();
    expect(harness.recorded).toMatchObject([{ reason: 'RollbackRevisionForeign', type: 'Warning' }]);
    expect(passes.snapshots[0]?.target).toBe(passes.snapshots[0]?.specRevision);
  });

  it('warns of a rollback to a revision that is not there: what rolls instead is the spec', async () => {
    const spec = { pacing: { rollbackToRevision: 'chat-engine-deadbeef' } };
    const harness = await world(rawReplica({ spec }));
    await passesOf(harness, () => idle).run();
    expect(harness.recorded).toMatchObject([
      { type: 'Warning', message: expect.stringContaining('chat-engine-deadbeef is not a revision of this replica') },
    ]);
  });

  it('puts a headless Service back that was deleted [B95]', async () => {
    const harness = await world(rawReplica(), { services: [rawHeadless()] });
    harness.answer(accept);
    const passes = passesOf(harness, plan);
    await passes.run();
    expect(harness.bodies('POST').some((body) => body['kind'] === 'Service')).toBe(false);
    harness.send('services', 'DELETED', at(rawHeadless(), '210'));
    await passes.run();
    const services = harness.bodies('POST').filter((body) => body['kind'] === 'Service');
    expect(services).toEqual([
      expect.objectContaining({
        metadata: expect.objectContaining({ name: 'chat-engine-headless', ownerReferences: [expect.anything()] }),
        spec: {
          clusterIP: 'None',
          publishNotReadyAddresses: true,
          selector: { component: 'engine', 'ome.io/inferenceservice': 'chat', 'ome.io/managed-by': 'OMENative' },
          ports: [discard],
        },
      }),
    ]);
  });

  it('says in Ready and in an Event why a spec cannot be run, and leaves what runs alone', async () => {
    const harness = await world(rawReplica({ spec: { runners: [] } }), { pods: [rawPod()] });
    harness.answer(accept);
    const passes = passesOf(harness, () => idle);
    expect(await passes.run()).toEqual({ again: 'whenWoken' });
    await passes.run();
    expect(passes.snapshots).toEqual([]);
    expect(statusesOf(harness)).toEqual([
      expect.objectContaining({
        conditions: [expect.objectContaining({ type: 'Ready', status: 'False', reason: 'TemplateSourceMissing' })],
      }),
    ]);
    expect(harness.recorded[0]).toMatchObject({ reason: 'TemplateSourceMissing', type: 'Warning' });
    expect(harness.sent).toHaveLength(1);
  });
});
