import { describe, expect, it } from '@jest/globals';
import type { InstanceRow } from '@omenative/api';
import { clusterOf, now, pod, readyRow, replica, revisionOf } from '../testing/objects.js';
import { rehearsalOf } from '../testing/views.js';
import type { Rehearsal } from './rehearse.js';

function told({ steps }: Rehearsal): readonly string[] {
  return steps.map(({ wave, instance, operation, method, ended }) => {
    return `${wave}: ${instance} ${operation}${method === undefined ? '' : ` ${method}`} ${ended}`;
  });
}

const three = [0, 1, 2];

function rollout(spec: Readonly<Record<string, unknown>> = {}) {
  const object = replica({ replicas: 3, image: 'v2', rows: three.map((index) => readyRow(index)), spec });
  return clusterOf(
    object,
    three.map((index) => pod({ index })),
  );
}

const lifecycle = (rollingUpdate: object, more: object = {}) => ({
  lifecycle: { updateStrategy: { rollingUpdate }, ...more },
});

describe('a rehearsal', () => {
  it('rolls a replica in waves of its surge budget, ascending, and never below what serves', async () => {
    const rehearsal = await rehearsalOf(rollout(lifecycle({ maxSurge: 2 })));
    expect(told(rehearsal)).toEqual(['1: 0 Update surge done', '1: 1 Update surge done', '2: 2 Update surge done']);
    expect(rehearsal.costs.get(1)).toEqual({ surge: 2, outOfService: 0, fewestServing: 3 });
    expect(rehearsal).toMatchObject({ end: 'rest', waits: [] });
    expect([...rehearsal.status.rows.values()].map((row) => row.running)).toEqual(three.map(() => revisionOf('v2')));
  });

  it('stops where the budget rounds to nothing, and says what it waits for', async () => {
    const rehearsal = await rehearsalOf(rollout(lifecycle({ maxSurge: '0%' })));
    expect(told(rehearsal)).toEqual([]);
    expect(rehearsal.waits).toMatchObject([{ is: 'Budget' }]);
  });

  it('leaves what a partition keeps', async () => {
    expect(told(await rehearsalOf(rollout(lifecycle({ maxSurge: 1, partition: 2 }))))).toEqual([
      '1: 2 Update surge done',
    ]);
  });

  it.each([
    ['RecreatePod', 'recreate'],
    ['InPlaceIfPossible', 'in place'],
  ])('of %s takes Instances out of service within the budget, and tells how many', async (type, method) => {
    const updateStrategy = { type, rollingUpdate: { maxUnavailable: 2 } };
    const rehearsal = await rehearsalOf(rollout({ lifecycle: { updateStrategy } }));
    expect(told(rehearsal)).toEqual([
      `1: 0 Update ${method} done`,
      `1: 1 Update ${method} done`,
      `2: 2 Update ${method} done`,
    ]);
    expect(rehearsal.costs.get(1)).toEqual({ surge: 0, outOfService: 2, fewestServing: 1 });
    expect(rehearsal.costs.get(2)).toEqual({ surge: 0, outOfService: 1, fewestServing: 2 });
  });

  it('holds what the API server has refused for as long as the target is the same', async () => {
    const target = revisionOf('v2');
    const reason = `the API server refuses the pods of ${target}: spec.containers: Invalid value`;
    const rolloutHold = { gate: 'Plan', reason, target, since: now - 60 } as const;
    const object = replica({ image: 'v2', rows: [readyRow(0)], status: { rolloutHold } });
    const rehearsal = await rehearsalOf(clusterOf(object, [pod()]));
    expect(told(rehearsal)).toEqual([]);
    expect(rehearsal.waits).toMatchObject([{ is: 'Plan', text: reason }]);
  });

  it('leaves what a quota refuses unmade', async () => {
    const row: InstanceRow = {
      ...readyRow(1),
      kind: 'creating',
      running: '',
      target: revisionOf('v1'),
      op: {
        type: 'Create',
        step: 'CreatePods',
        id: 'create-1',
        startedAt: now - 60,
        retryCount: 0,
        target: revisionOf('v1'),
        reason: 'scale up',
        waiting: 'QuotaExceeded',
        capacityRefusedAt: now - 50,
        carry: {},
      },
    };
    const object = replica({ replicas: 2, rows: [readyRow(0), row] });
    const rehearsal = await rehearsalOf(clusterOf(object, [pod()]));
    expect(told(rehearsal)).toEqual(['0: 1 Create open']);
    expect(rehearsal.waits.map((hold) => hold.is)).toContain('QuotaExceeded');
  });

  it('stands out minReadySeconds, and tells of it', async () => {
    const rehearsal = await rehearsalOf(rollout({ ...lifecycle({ maxSurge: 3 }), minReadySeconds: 40 }));
    expect(rehearsal.pauses.find(({ hold }) => hold.is === 'MinReady')?.instances).toEqual(three);
    expect(rehearsal.endedAt - rehearsal.startedAt).toBeGreaterThanOrEqual(40);
  });

  it('starts nothing while the rollout is paused', async () => {
    const rehearsal = await rehearsalOf(rollout({ paused: true }));
    expect(told(rehearsal)).toEqual([]);
    expect(rehearsal.end).toBe('rest');
  });

  it('creates what is missing and removes what is too much', async () => {
    const more = clusterOf(replica({ replicas: 3, rows: [readyRow(0)] }), [pod()]);
    expect(told(await rehearsalOf(more))).toEqual(['1: 1 Create done', '1: 2 Create done']);
    const fewer = clusterOf(replica({ replicas: 1, rows: [readyRow(0), readyRow(1)] }), [pod(), pod({ index: 1 })]);
    expect(told(await rehearsalOf(fewer))).toEqual(['1: 1 Delete done']);
  });

  it('goes on with an operation that is under way', async () => {
    const row: InstanceRow = {
      ...readyRow(0),
      kind: 'updating',
      target: revisionOf('v2'),
      op: {
        type: 'Update',
        step: 'Surge',
        id: 'update-0',
        startedAt: now - 5,
        lastProgressAt: now - 5,
        deadline: now + 600,
        retryCount: 0,
        target: revisionOf('v2'),
        reason: 'revision',
        waiting: '',
        strategy: 'SurgeThenDrain',
        carry: {},
      },
    };
    const pods = [pod(), pod({ ordinal: 1, image: 'v2', is: 'starting' })];
    expect(told(await rehearsalOf(clusterOf(replica({ image: 'v2', rows: [row] }), pods)))).toEqual([
      '0: 0 Update surge done',
    ]);
    const stuck = [pod(), pod({ ordinal: 1, image: 'v2', is: 'crashing' })];
    const failing = await rehearsalOf(clusterOf(replica({ image: 'v2', rows: [row] }), stuck));
    expect(failing.steps[0]).toMatchObject({ wave: 0, began: 'before', ended: 'failed' });
  });

  it('removes a replica that is being deleted', async () => {
    const metadata = { deletionTimestamp: '2026-05-31T23:59:00Z' };
    const rehearsal = await rehearsalOf(clusterOf(replica({ rows: [readyRow(0)], metadata }), [pod()]));
    expect(told(rehearsal)).toEqual(['1: 0 Delete done']);
    expect(rehearsal.end).toBe('gone');
  });

  it('does not wait for a pod whose end somebody holds up', async () => {
    const metadata = { deletionTimestamp: '2026-05-31T23:00:00Z', finalizers: ['example.com/hold'] };
    const row: InstanceRow = {
      ...readyRow(1),
      kind: 'deleting',
      op: {
        type: 'Delete',
        step: 'Drain',
        id: 'delete-1',
        startedAt: now - 4000,
        retryCount: 0,
        target: '',
        reason: 'scale down',
        waiting: '',
        carry: {},
      },
    };
    const object = replica({ rows: [readyRow(0), row] });
    const rehearsal = await rehearsalOf(clusterOf(object, [pod(), pod({ index: 1, metadata })]));
    expect(told(rehearsal)).toEqual(['0: 1 Delete open']);
    expect(rehearsal.waits.map((hold) => hold.is)).toEqual(['PodsTerminating']);
  });
});
