/** What an InferenceReplica may not say, in its spec and in its status. */
import { beforeAll, expect, it } from '@jest/globals';
import { describeOnApiServer, messageOf } from './testing/api-server.js';

type Fields = Readonly<Record<string, unknown>>;

const plural = 'inferencereplicas';
const template = { spec: { containers: [{ name: 'main', image: 'vllm:1' }] } };
const runner = (name: string, size = 1): Fields => ({ name, size, template });
const time = '2026-01-02T15:04:05Z';

function replica(spec: Fields, name = 'refused'): object {
  return {
    apiVersion: 'ome.io/v1beta1',
    kind: 'InferenceReplica',
    metadata: { name },
    spec: { component: 'engine', runners: [runner('default')], ...spec },
  };
}

const rendered = { runners: undefined, modelRef: { name: 'llama' }, runtimeRef: { name: 'vllm' } };
const projected = { parentRef: { name: 'chat' } };
const execution = { planID: 'p', revision: 1, sourceUID: 's', clusterUID: 'c', pauseSurge: false };

const refusals: readonly (readonly [string, Fields, string])[] = [
  ['no component', { component: undefined }, 'spec.component: Required value'],
  ['an unknown component', { component: 'cache' }, 'supported values: "engine", "decoder", "router"'],
  [
    'no template source',
    { runners: undefined },
    'exactly one template source is needed: either spec.runners, or spec.modelRef and/or spec.runtimeRef',
  ],
  ['no runner', { runners: [] }, 'exactly one template source is needed'],
  ['two template sources', { modelRef: { name: 'llama' } }, 'exactly one template source is needed'],
  [
    'a pinned runtime',
    { ...rendered, runtimeRef: { name: 'vllm', autoSync: false } },
    'spec.runtimeRef cannot pin a revision; remove spec.runtimeRef.revision and write autoSync: true',
  ],
  [
    'a runtime revision',
    { ...rendered, runtimeRef: { name: 'vllm', revision: 'a' } },
    'spec.runtimeRef cannot pin a revision',
  ],
  ['a default runner of two', { runners: [runner('default', 2)] }, 'size of a default or leader runner must be 1'],
  [
    'a leader of two',
    { runners: [runner('leader', 2), runner('worker')] },
    'size of a default or leader runner must be 1',
  ],
  [
    'a runner of none',
    { runners: [runner('default', 0)] },
    'spec.runners[0].size in body should be greater than or equal to 1',
  ],
  [
    'a leader alone',
    { runners: [runner('leader')] },
    'runners must be one named default, or two named leader and worker',
  ],
  [
    'a worker alone',
    { runners: [runner('worker')] },
    'runners must be one named default, or two named leader and worker',
  ],
  [
    'a default beside a gang',
    { runners: [runner('default'), runner('leader'), runner('worker')] },
    'runners must be one named default, or two named leader and worker',
  ],
  [
    'a default beside a worker',
    { runners: [runner('default'), runner('worker')] },
    'runners must be one named default, or two named leader and worker',
  ],
  ['a runner twice', { runners: [runner('default'), runner('default')] }, 'Duplicate value'],
  ['an unknown runner', { runners: [runner('main')] }, 'supported values: "default", "leader", "worker"'],
  [
    'a template without containers',
    { runners: [{ name: 'default', size: 1, template: { spec: {} } }] },
    'spec.runners[0].template.spec.containers: Required value',
  ],
  [
    'minReadySeconds in the wrong place',
    { lifecycle: { minReadySeconds: 5 } },
    'spec.lifecycle.minReadySeconds is not read on a standalone InferenceReplica; write spec.minReadySeconds',
  ],
  [
    'an HPA',
    { autoscaler: { class: 'HPA' } },
    'spec.autoscaler.class HPA and KEDA need an InferenceService; on a standalone InferenceReplica write External or None',
  ],
  [
    'KEDA',
    { autoscaler: { class: 'KEDA', keda: { triggers: [{}] } } },
    'spec.autoscaler.class HPA and KEDA need an InferenceService',
  ],
  [
    'an allocation of its own',
    { placementExecution: execution },
    'spec.placementExecution and spec.placementReplicaLimit are written only by the InferenceService controller; remove them',
  ],
  ['a limit of its own', { placementReplicaLimit: 1 }, 'are written only by the InferenceService controller'],
  [
    'a partition above the count',
    { replicas: 2, pacing: { partition: 3 } },
    'spec.pacing.partition must be <= spec.replicas; an over-partition silently holds every Instance back forever',
  ],
  [
    'a partition above the one Instance of an unset count',
    { pacing: { partition: 2 } },
    'spec.pacing.partition must be <= spec.replicas',
  ],
  [
    'a partition above the one Instance of a count of 0',
    { replicas: 0, pacing: { partition: 2 } },
    'spec.pacing.partition must be <= spec.replicas',
  ],
  [
    'a negative partition',
    { pacing: { partition: -1 } },
    'spec.pacing.partition in body should be greater than or equal to 0',
  ],
  ['a negative count', { replicas: -1 }, 'spec.replicas in body should be greater than or equal to 0'],
  ['an unknown pause', { paused: true, pauseMode: 'Stop' }, 'supported values: "Recover", "Freeze"'],
  [
    'no kept revision',
    { revisionHistoryLimit: 0 },
    'spec.revisionHistoryLimit in body should be greater than or equal to 1',
  ],
  [
    'a parent without a name',
    { parentRef: { name: '' } },
    'spec.parentRef.name in body should be at least 1 chars long',
  ],
  ['a misspelt field', { replica: 1 }, 'unknown field "spec.replica"'],
  [
    'a misspelt container field',
    { runners: [{ ...runner('default'), template: { spec: { containers: [{ name: 'a', imge: 'b' }] } } }] },
    'unknown field "spec.runners[0].template.spec.containers[0].imge"',
  ],
];

describeOnApiServer('an InferenceReplica is refused for', (server) => {
  it.each(refusals)('%s', async (_, spec, message) => {
    const reply = await server.create(plural, replica(spec));
    expect(messageOf(reply)).toContain(message);
    expect([400, 422]).toContain(reply.status);
    expect((await server.get(plural, 'refused')).status).toBe(404);
  });

  it.each(['7b', 'a.b', 'a'.repeat(64)])('the standalone name %s [B58]', async (name) => {
    const reply = await server.create(plural, replica({}, name));
    expect(reply.status).toBe(422);
    expect(messageOf(reply)).toContain(
      'metadata.name of a standalone InferenceReplica is the prefix of its pod and Service names',
    );
  });

  it('a missing spec', async () => {
    const reply = await server.create(plural, {
      apiVersion: 'ome.io/v1beta1',
      kind: 'InferenceReplica',
      metadata: { name: 'refused' },
    });
    expect(messageOf(reply)).toContain('spec is required; write spec.component and spec.runners');
  });
});

describeOnApiServer('an InferenceReplica is accepted with', (server) => {
  it.each<[string, Fields]>([
    ['one runner', {}],
    ['a gang', { runners: [runner('worker', 3), runner('leader')] }],
    ['a model and a runtime', rendered],
    ['only a runtime', { runners: undefined, runtimeRef: { name: 'vllm' } }],
    ['a partition of all', { replicas: 2, pacing: { partition: 2 } }],
    ['an autoscaler of the user', { autoscaler: { class: 'External' } }],
    [
      'what only a projected one may have',
      {
        ...projected,
        autoscaler: { class: 'HPA' },
        lifecycle: { minReadySeconds: 5 },
        placementReplicaLimit: 1,
        placementExecution: execution,
      },
    ],
  ])('%s', async (_, spec) => {
    const reply = await server.create(plural, replica(spec, 'accepted'));
    expect(messageOf(reply)).toBe('');
    await server.delete(plural, 'accepted');
  });

  it('a long name, when it is projected', async () => {
    const name = `${'a'.repeat(63)}-decoder`;
    expect(messageOf(await server.create(plural, replica(projected, name)))).toBe('');
  });
});

describeOnApiServer('an update of an InferenceReplica', (server) => {
  async function refuses(before: Fields, patch: Fields, message: string): Promise<void> {
    const created = await server.create(plural, replica(before, 'updated'));
    expect(messageOf(created)).toBe('');
    try {
      const reply = await server.merge(plural, 'updated', { spec: patch });
      expect(messageOf(reply)).toContain(message);
      expect(reply.status).toBe(422);
      expect((await server.get(plural, 'updated')).body).toEqual(created.body);
    } finally {
      await server.delete(plural, 'updated');
    }
  }

  it('may not change the component', () =>
    refuses(
      {},
      { component: 'decoder' },
      'spec.component is immutable; delete the InferenceReplica and create another one',
    ));

  it('may not give it a parent', () => refuses({}, projected, 'spec.parentRef is immutable'));

  it('may not take its parent away', () => refuses(projected, { parentRef: null }, 'spec.parentRef is immutable'));

  it('may not give it another parent', () =>
    refuses(projected, { parentRef: { name: 'other' } }, 'spec.parentRef is immutable'));

  it('may not lower the count of a standalone one below its partition', () =>
    refuses(
      { replicas: 3, pacing: { partition: 3 } },
      { replicas: 2 },
      'spec.pacing.partition must be <= spec.replicas',
    ));

  it('may not raise the partition of a projected one above its count', () =>
    refuses(
      { ...projected, replicas: 2, pacing: { partition: 1 } },
      { pacing: { partition: 3 } },
      'spec.pacing.partition must be <= spec.replicas',
    ));

  it('may scale a projected one below its partition, as an autoscaler does during a canary', async () => {
    await server.create(plural, replica({ ...projected, replicas: 4, pacing: { partition: 3 } }, 'canary'));
    const scaled = await server.merge(plural, 'canary/scale', { spec: { replicas: 2 } });
    expect(messageOf(scaled)).toBe('');
    expect((await server.get(plural, 'canary')).body['spec']).toMatchObject({ replicas: 2, pacing: { partition: 3 } });
  });
});

describeOnApiServer('the status of an InferenceReplica', (server) => {
  beforeAll(async () => {
    await server.create(plural, replica({}, 'reported'));
  });

  const row = { index: 0, phase: 'Ready' };
  const columns = { members: '0', phases: [{ value: 'Ready', indexes: '0' }] };
  const columnar = (more: Fields): Fields => ({
    instanceStatusEncoding: 'ColumnarV2',
    instanceStatusColumns: { ...columns, ...more },
  });
  const operation = { id: 'a', type: 'Create', step: 'CreatePods', startedAt: time, lastProgressAt: time };

  it.each<[string, Fields, string]>([
    [
      'columns without the marker',
      { instanceStatusColumns: columns },
      'instanceStatusColumns requires instanceStatusEncoding; an unmarked status carries only instanceStatuses',
    ],
    [
      'the marker without columns',
      { instanceStatusEncoding: 'ColumnarV2' },
      'instanceStatusEncoding: ColumnarV2 requires instanceStatusColumns and forbids instanceStatuses',
    ],
    [
      'both forms at once',
      { ...columnar({}), instanceStatuses: [row] },
      'instanceStatusEncoding: ColumnarV2 requires instanceStatusColumns and forbids instanceStatuses',
    ],
    [
      'an unknown encoding',
      { instanceStatusEncoding: 'ColumnarV3', instanceStatusColumns: columns },
      'supported values: "ColumnarV2"',
    ],
    [
      'an index set with a leading zero',
      columnar({ members: '00' }),
      'instanceStatusColumns.members in body should match',
    ],
    [
      'an empty column',
      columnar({ podCounts: [] }),
      'instanceStatusColumns.podCounts in body should have at least 1 items',
    ],
    ['a pod count of 0', columnar({ podCounts: [{ value: 0, indexes: '0' }] }), 'should be greater than or equal to 1'],
    [
      'an incarnation of 0',
      columnar({ incarnations: [{ value: 0, indexes: '0' }] }),
      'an incarnation group value must be nonzero; zero is the absent default',
    ],
    [
      'an entry of nothing',
      columnar({ entries: [{ index: 0 }] }),
      'an entry must carry at least one of conditions, readySince, operation, lastFailure, or announced',
    ],
    [
      'an unknown phase',
      { instanceStatuses: [{ index: 0, phase: 'Running' }] },
      'supported values: "Pending", "Creating", "Ready", "Updating", "Restarting", "Migrating", "Failed", "Deleting"',
    ],
    ['a row twice', { instanceStatuses: [row, row] }, 'Duplicate value'],
    ['a third pod name', { instanceStatuses: [{ ...row, activeOrdinal: 2 }] }, 'should be less than or equal to 1'],
    [
      'an operation without a step',
      { instanceStatuses: [{ ...row, operation: { ...operation, step: undefined } }] },
      'status.instanceStatuses[0].operation.step: Required value',
    ],
    [
      'an unknown gate',
      { rolloutHold: { gate: 'Moon', reason: 'r', since: time } },
      'status.rolloutHold.gate: Unsupported value',
    ],
    [
      'a retry block twice',
      { retryBlocks: ['Held', 'Backoff'].map((state) => ({ targetRevision: 'r', state, attemptsStarted: 1 })) },
      'Duplicate value',
    ],
  ])('is refused for %s', async (_, status, message) => {
    const before = await server.get(plural, 'reported');
    const reply = await server.merge(plural, 'reported/status', { status });
    expect(messageOf(reply)).toContain(message);
    expect(reply.status).toBe(422);
    expect((await server.get(plural, 'reported')).body).toEqual(before.body);
  });

  it.each<[string, Fields]>([
    ['rows', { instanceStatuses: [{ ...row, operation: { ...operation, deadline: null } }] }],
    ['columns', { instanceStatuses: null, ...columnar({ entries: [{ index: 0, announced: ['a@1'] }] }) }],
  ])('is accepted with %s', async (_, status) => {
    expect(messageOf(await server.merge(plural, 'reported/status', { status }))).toBe('');
  });
});
