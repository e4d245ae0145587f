import { describe, expect, it } from '@jest/globals';
import type { DeleteOp, InstanceRow } from '@omenative/api';
import { plan } from './plan.js';
import type { Snapshot } from './snapshot.js';
import { holdOf, persisted, wishes } from './testing/read.js';
import { creatingRow, deletingRow, dueAt } from './testing/rows.js';
import { noon, pod, readyRow, revisionOf, world } from './testing/world.js';

/** Instances 0, 1, … that leave, each with its deadline. */
function draining(deadlines: readonly (number | undefined)[]): readonly InstanceRow[] {
  return deadlines.map((deadline, index) => deletingRow(index, 'v1', { op: { deadline } as Partial<DeleteOp> }));
}

describe('a plan', () => {
  it('that only moves counters and conditions may wait for company', () => {
    const counted = persisted(world({ rows: [readyRow(0)], pods: [pod()], status: { current: revisionOf('v1') } }));
    const unready: Snapshot = { ...counted, pods: new Map([[0, [pod({ health: 'starting' })]]]) };
    expect(plan(unready).status).toBeDefined();
    expect(plan(unready).urgency).toBe('coalesce');
  });

  it.each<[string, Snapshot]>([
    ['a row', world({ rows: [creatingRow(0)], pods: [pod()] })],
    [
      'the observed generation',
      { ...persisted(world({ rows: [readyRow(0)], pods: [pod()] })), replica: { ...world().replica, generation: 2 } },
    ],
    [
      'a hold of the rollout',
      world({
        rows: [readyRow(0, 'v0')],
        pods: [pod({ image: 'v0' })],
        spec: { update: { type: 'RecreatePod', partition: 0, maxUnavailable: 0, inPlace: 'markNotReady' } },
      }),
    ],
  ])('that changes %s is written at once', (_, snapshot) => {
    expect(plan(snapshot).urgency).toBe('now');
  });

  it('names the earliest of all its wakes, none of them past', () => {
    const rows = [creatingRow(0), deletingRow(1, 'v1', { op: { deadline: noon + 20 } }), creatingRow(2)];
    const pods = [
      pod({ health: 'starting' }),
      pod({ index: 1, health: 'drained', over: { ready: true } }),
      pod({ index: 2, readyFor: 5 }),
    ];
    expect(plan(world({ spec: { replicas: 2, minReadySeconds: 60 }, rows, pods })).wakeAt).toBe(noon + 20);
    expect(plan(world({ spec: { replicas: 2, minReadySeconds: 10 }, rows, pods })).wakeAt).toBe(noon + 5);
  });

  it('is woken by the drain that is due first, and by the watch alone where none has a deadline [E151]', () => {
    const pods = [0, 1, 5].map((index) => pod({ index }));
    const drains = (...deadlines: readonly (number | undefined)[]) =>
      plan(world({ rows: [readyRow(5), ...draining(deadlines)], pods }));
    expect(drains(noon + 30, noon + 20).wakeAt).toBe(noon + 20);
    expect(drains(noon + 30, undefined).wakeAt).toBe(noon + 30);
    expect(drains(undefined, undefined).wakeAt).toBeUndefined();
    expect(wishes(drains(noon, noon + 20))).toContain('delete 0-default-0');
  });

  it('is not woken by the deadline of what serves, which would hide what it waits for [B03]', () => {
    const row = creatingRow(0, 'v1', { op: { deadline: noon - 1 } });
    const made = plan(world({ spec: { minReadySeconds: 60 }, rows: [row], pods: [pod({ readyFor: 5 })] }));
    expect(made.wakeAt).toBe(noon + 55);
  });

  it('is not woken by the deadline of an Instance that it may not advance', () => {
    expect(plan(world({ rows: [creatingRow(0)], blind: [0] })).wakeAt).toBeUndefined();
    expect(plan(world({ rows: [creatingRow(0)] })).wakeAt).toBe(dueAt);
  });

  it('never touches a pod that says no index, and names it', () => {
    const stray = pod({ over: { name: 'stray' } });
    const made = plan(world({ rows: [readyRow(0)], pods: [pod()], strays: [stray] }));
    expect(made.chains).toEqual([]);
    expect(holdOf(made, 'Stray')?.text).toContain('stray');
  });

  it('does not change its snapshot', () => {
    const snapshot = world({
      spec: { replicas: 3 },
      rows: [creatingRow(0), deletingRow(5)],
      pods: [pod(), pod({ index: 5 })],
    });
    const before = structuredClone(snapshot);
    plan(snapshot);
    expect(snapshot).toEqual(before);
  });
});
