import { describe, expect, it } from '@jest/globals';
import { plan } from '../plan.js';
import type { PodView, Snapshot } from '../snapshot.js';
import { holdOf, kinds, persisted, rowAfter, said, statusAfter, wishes } from '../testing/read.js';
import { deletingRow, drainingRow, dueAt } from '../testing/rows.js';
import { gang, gangPods, noon, payload, pod, readyRow, type WorldOptions, world } from '../testing/world.js';

const runners = gang(2);
const gangRow = deletingRow(0, 'v1', { runners });
/** A replica that wants another Instance than the one that goes. */
const going = (pods: readonly PodView[], options: WorldOptions = {}): Snapshot =>
  world({ rows: [deletingRow(0), readyRow(1)], ...options, pods: [...pods, pod({ index: 1, ...options.spec })] });
/** A gang that goes with its whole replica, so that nothing takes its place. */
const gone = (pods: readonly PodView[]): Snapshot =>
  world({ spec: { runners }, rows: [gangRow], pods, replica: { deletingSince: noon - 60 } });

describe('an Instance without a place', () => {
  const tooMany: WorldOptions = { rows: [readyRow(0), readyRow(1)], pods: [pod(), pod({ index: 1 })] };
  const snapshot = world(tooMany);

  it('is recorded as going before anything happens to its pods [E119]', () => {
    expect(rowAfter(snapshot, 1)).toMatchObject({
      kind: 'deleting',
      op: { type: 'Delete', step: 'Drain', id: `delete-1-${noon}`, reason: 'scale down', deadline: noon + 1800 },
    });
    expect(wishes(plan(snapshot)).filter((wish) => wish.startsWith('delete'))).toEqual([]);
  });

  it.each(['recover', 'freeze'] as const)('goes also while the rollout is in a %s pause', (pause) => {
    expect(rowAfter(world({ ...tooMany, spec: { pause } }), 1)?.kind).toBe('deleting');
  });

  it('takes both pods of its update with it', () => {
    const pair = [pod({ index: 1, health: 'drained' }), pod({ index: 1, ordinal: 1, image: 'v2', health: 'drained' })];
    const rows = [readyRow(0, 'v2'), drainingRow(1)];
    const after = persisted(world({ spec: { payload: payload('v2') }, rows, pods: [pod({ image: 'v2' }), ...pair] }));
    expect(kinds(after.status)).toBe('0 ready, 1 deleting');
    expect(wishes(plan(after))).toEqual(['delete 1-default-0', 'delete 1-default-1']);
  });
});

describe('a drain', () => {
  it('takes every pod out of rotation before it deletes the first, the leader first', () => {
    expect(wishes(plan(gone(gangPods(0, 2, 'serving'))))).toEqual([
      'out 0-leader-0',
      'out 0-worker-0',
      'out 0-worker-1',
    ]);
    const [leader, ...workers] = gangPods(0, 2, 'drained') as [PodView, PodView, PodView];
    expect(wishes(plan(gone([{ ...leader, ready: true }, ...workers])))).toEqual([]);
    expect(wishes(plan(gone([leader, ...workers])))).toEqual([
      'delete 0-leader-0',
      'delete 0-worker-0',
      'delete 0-worker-1',
    ]);
  });

  it('of one Instance does not wait for that of another [E120]', () => {
    const rows = [deletingRow(0), deletingRow(1)];
    const pods = [pod({ health: 'drained', over: { ready: true } }), pod({ index: 1, health: 'drained' })];
    expect(wishes(plan(world({ rows, pods, spec: { replicas: 1 } })))).toContain('delete 1-default-0');
  });

  it('deletes pods at once that were never in rotation', () => {
    expect(wishes(plan(going([pod({ health: 'starting' })])))).toEqual(['delete 0-default-0']);
  });

  it('is derived again after a crash: what is going is left, what is not is deleted [E206]', () => {
    const [leader, first, second] = gangPods(0, 2, 'drained') as [PodView, PodView, PodView];
    expect(wishes(plan(gone([{ ...leader, deletionAt: noon + 30 }, first, second])))).toEqual([
      'delete 0-worker-0',
      'delete 0-worker-1',
    ]);
  });

  it('is not undone when the Instance would be wanted again; another takes its place', () => {
    const after = statusAfter(going([pod({ health: 'drained' })], { spec: { replicas: 2 } }));
    expect(kinds(after)).toBe('0 deleting, 1 ready, 2 creating');
  });
});

describe('the row of an Instance that goes', () => {
  it('stays while a pod is left, dying or not', () => {
    const dying = pod({ over: { deletionAt: noon + 600 } });
    expect(rowAfter(going([dying]))?.kind).toBe('deleting');
    expect(holdOf(plan(going([dying])), 'PodsTerminating')?.text).toContain('chat-engine-0-default-0');
  });

  it('stays until the absence of its pods is proved', () => {
    const unproved = going([], { proofs: 'none' });
    expect(rowAfter(unproved)?.kind).toBe('deleting');
    expect(plan(unproved).reads).toContainEqual({ read: 'podsOfIndex', index: 0 });
  });

  it('is removed then', () => {
    expect(kinds(statusAfter(going([])))).toBe('1 ready');
    const seen = { absentPods: new Set(['chat-engine-0-default-0']), readIndices: new Set<number>() };
    expect(kinds(statusAfter(going([], { proofs: seen })))).toBe('1 ready');
  });

  it('is removed whether or not others are [E206]', () => {
    const rows = [deletingRow(0), deletingRow(1), readyRow(2)];
    const snapshot = world({ rows, pods: [pod({ index: 0, health: 'drained' }), pod({ index: 2 })] });
    expect(kinds(statusAfter(snapshot))).toBe('0 deleting, 2 ready');
  });
});

describe('a drain that is overdue', () => {
  const stuck = pod({ health: 'drained', over: { ready: true } });
  const late = going([stuck], { now: dueAt });

  it('is said once, with how long and for what [E140] [B79]', () => {
    expect(said(plan(going([stuck], { now: dueAt + 7 })))).toEqual([
      'DrainOverdue: OMENative component=engine instance=0: drain overdue by 7 s; 1 pod(s) left, 0 of them Terminating (chat-engine-0-default-0). The pods that are left are deleted now, though requests may still reach them',
    ]);
    expect(said(plan(persisted(late)))).toEqual([]);
  });

  it('says where to look when a pod does not end', () => {
    const dying = { ...stuck, deletionAt: noon };
    expect(said(plan(going([dying], { now: dueAt + 7 })))[0]).toContain(
      '1 of them Terminating (chat-engine-0-default-0). A pod that stays Terminating is held by its node or by a finalizer: see `kubectl get pod chat-engine-0-default-0 -o yaml`',
    );
  });

  it('is recorded, but the Instance never fails', () => {
    expect(rowAfter(late)).toMatchObject({
      kind: 'deleting',
      announced: ['DrainOverdue@delete-0'],
      lastFailure: { reason: 'DrainOverdue', time: dueAt },
    });
  });

  it('waits for rotation no longer', () => {
    expect(wishes(plan(going([stuck], { now: dueAt - 1 })))).toEqual([]);
    expect(wishes(plan(late))).toEqual(['delete 0-default-0']);
  });

  it('wakes the plan when its time comes, and not after', () => {
    expect(plan(going([stuck])).wakeAt).toBe(dueAt);
    expect(plan(persisted(late)).wakeAt).toBeUndefined();
  });

  it('is bounded in what it writes [B103]', () => {
    const pods = gangPods(0, 40, 'drained').map((one) => ({ ...one, ready: true }));
    const snapshot = world({ spec: { runners: gang(40) }, rows: [deletingRow(0)], pods, now: dueAt });
    expect(rowAfter(snapshot)?.lastFailure?.message.length).toBeLessThanOrEqual(256);
  });

  it('does not come without a timeout, and the wait is named all the same', () => {
    const { deadline: _, ...op } = (deletingRow(0) as { op: { deadline?: number } }).op;
    const row = { ...deletingRow(0), op } as ReturnType<typeof deletingRow>;
    const made = plan(going([stuck], { rows: [row, readyRow(1)], now: noon + 1e7 }));
    expect(wishes(made)).toEqual([]);
    expect(holdOf(made, 'Draining')).toMatchObject({ index: 0 });
  });
});
