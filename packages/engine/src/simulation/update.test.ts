/** Updates of a replica in a toy cluster, step by step: surge, change of mind, failure, pause. */
import { describe, expect, it } from '@jest/globals';
import type { PlanSpec } from '../snapshot.js';
import { ToyCluster } from '../testing/toy-cluster.js';
import { isOn, stepUntil } from '../testing/until.js';

type Update = Partial<PlanSpec['update']>;
const update = (over: Update): PlanSpec['update'] => ({
  type: 'SurgeThenDrain',
  partition: 0,
  inPlace: 'markNotReady',
  ...over,
});

/** Three Instances that serve v1; updates may have one pod more at a time. */
function serving(over: Update = {}, spec: Partial<PlanSpec> = {}): ToyCluster {
  const cluster = new ToyCluster({ spec: { replicas: 3, update: update({ maxSurge: 1, ...over }), ...spec } });
  stepUntil(cluster, isOn(cluster, 'v1'));
  cluster.settle();
  cluster.log.length = 0;
  cluster.fewestServing = 3;
  return cluster;
}

describe('an update', () => {
  it('moves Instance after Instance, each to its other slot, with every one of them serving all the time [A2]', () => {
    const cluster = serving();
    cluster.edit({ image: 'v2' });
    const most = stepUntil(cluster, isOn(cluster, 'v2'));
    cluster.settle();
    expect(cluster.log).toEqual([
      'create 0-default-1',
      'delete 0-default-0',
      'create 1-default-1',
      'delete 1-default-0',
      'create 2-default-1',
      'delete 2-default-0',
    ]);
    expect([cluster.serving(), cluster.fewestServing, most]).toEqual(['0-default-1, 1-default-1, 2-default-1', 3, 4]);
    expect(cluster.status).toMatchObject({ current: cluster.revision('v2'), counters: { updated: 3, serving: 3 } });
  });

  it('back again returns to the first slots', () => {
    const cluster = serving();
    cluster.edit({ image: 'v2' });
    stepUntil(cluster, isOn(cluster, 'v2'));
    cluster.edit({ image: 'v1' });
    stepUntil(cluster, isOn(cluster, 'v1'));
    cluster.settle();
    expect(cluster.serving()).toBe('0-default-0, 1-default-0, 2-default-0');
  });

  it('moves all at once without a budget, still with every Instance serving', () => {
    const cluster = new ToyCluster({ spec: { replicas: 3 } });
    cluster.settle();
    cluster.fewestServing = 3;
    cluster.edit({ image: 'v2' });
    expect(stepUntil(cluster, isOn(cluster, 'v2'))).toBe(6);
    expect(cluster.fewestServing).toBe(3);
  });

  it('gives each replacement minReadySeconds before the old pod leaves', () => {
    const cluster = serving({}, { minReadySeconds: 20 });
    cluster.edit({ image: 'v2' });
    cluster.steps(15);
    expect(cluster.rows()).toBe('0 updating, 1 ready, 2 ready');
    expect(cluster.log).toEqual(['create 0-default-1']);
    stepUntil(cluster, isOn(cluster, 'v2'));
    expect(cluster.fewestServing).toBe(3);
  });

  it('stops at its partition and goes on when that is lowered [A4]', () => {
    const cluster = serving({ partition: 2 });
    cluster.edit({ image: 'v2' });
    cluster.settle();
    expect(cluster.serving()).toBe('0-default-0, 1-default-0, 2-default-1');
    expect(cluster.status.conditions.find(({ type }) => type === 'Ready')).toMatchObject({ reason: 'Staged' });
    cluster.edit({ update: update({ maxSurge: 1, partition: 0 }) });
    stepUntil(cluster, isOn(cluster, 'v2'));
  });

  it('carries on from a crash at every second, with no second replacement and no gap [E211]', () => {
    const cluster = serving();
    cluster.edit({ image: 'v2' });
    for (let second = 0; second < 30; second++) {
      cluster.crash();
      cluster.step();
    }
    expect(isOn(cluster, 'v2')()).toBe(true);
    expect([new Set(cluster.log).size, cluster.log.length, cluster.fewestServing]).toEqual([6, 6, 3]);
  });

  it('replaces what serves nothing first, though a budget of 1 is all there is [B01]', () => {
    const cluster = serving();
    cluster.fates.set('2-default-0', 'neverReady');
    cluster.step();
    cluster.edit({ image: 'v2' });
    stepUntil(cluster, isOn(cluster, 'v2'));
    expect(cluster.log[0]).toBe('create 2-default-1');
  });

  it('waits for a hung kubelet under a name, and holds its slot until the node is gone', () => {
    const cluster = serving();
    cluster.hung.add('0-default-0');
    cluster.edit({ image: 'v2' });
    cluster.steps(40, 100);
    expect(cluster.rows()).toBe('0 updating, 1 ready, 2 ready');
    const { writes } = cluster;
    const made = cluster.step(100);
    expect([cluster.writes, made.holds.map((hold) => hold.is)]).toEqual([writes, ['Draining', 'Budget']]);
    cluster.lose('0-default-0');
    stepUntil(cluster, isOn(cluster, 'v2'));
    expect(cluster.servingInstances()).toBe(3);
  });
});

describe('a change of mind', () => {
  it('before a replacement is ready takes it back and goes on with the newest [B05] [B06]', () => {
    const cluster = serving();
    cluster.fates.set('v2', 'slow');
    cluster.edit({ image: 'v2' });
    cluster.steps(3);
    cluster.edit({ image: 'v3' });
    const most = stepUntil(cluster, isOn(cluster, 'v3'));
    expect(cluster.log.slice(0, 2)).toEqual(['create 0-default-1', 'delete 0-default-1']);
    expect([cluster.fewestServing, most]).toEqual([3, 4]);
  });

  it('once a replacement serves lets it finish first [E56]', () => {
    const cluster = serving();
    cluster.edit({ image: 'v2' });
    cluster.steps(2);
    expect(cluster.row(0)).toMatchObject({ op: { step: 'Surge' } });
    cluster.edit({ image: 'v3' });
    stepUntil(cluster, () => cluster.row(0)?.running === cluster.revision('v2'));
    stepUntil(cluster, isOn(cluster, 'v3'));
    expect(cluster.fewestServing).toBe(3);
  });

  it('every other second ends at the last word', () => {
    const cluster = serving();
    for (let round = 0; round < 12; round++) {
      cluster.edit({ image: `v${2 + (round % 3)}` });
      cluster.steps(2);
    }
    cluster.edit({ image: 'v9' });
    stepUntil(cluster, isOn(cluster, 'v9'));
    expect(cluster.fewestServing).toBe(3);
  });
});

/** v2 crashes on Instance 1, after Instance 0 has moved. */
function stuck(): ToyCluster {
  const cluster = serving();
  cluster.fates.set('1-default-1', 'crashLoop');
  cluster.edit({ image: 'v2' });
  stepUntil(cluster, () => cluster.row(1)?.kind === 'updating');
  cluster.steps(2);
  cluster.step(100);
  expect(cluster.rows()).toBe('0 ready, 1 failed, 2 ready');
  return cluster;
}

describe('an update that fails', () => {
  it('stops there, says why, and takes nothing out of rotation [B16]', () => {
    const cluster = stuck();
    expect(cluster.status.rolloutHold).toMatchObject({
      gate: 'RetryBlock',
      reason: `update to ${cluster.revision('v2')} in backoff after 0 failed attempt(s): CrashLoopBackOff`,
    });
    expect(cluster.status.conditions.find(({ type }) => type === 'RolloutStalled')?.message).toBe(
      `1/3 Instance(s) failing rollout to ${cluster.revision('v2')} (CrashLoopBackOff x1)`,
    );
    cluster.steps(200, 10);
    expect(cluster.rows()).toMatch(/^0 ready, 1 (failed|updating), 2 ready$/);
    expect(cluster.fewestServing).toBe(3);
  });

  it('by an image that can not be pulled is held after three attempts while the old pods serve [A7]', () => {
    const cluster = serving();
    cluster.fates.set('v2', 'noImage');
    cluster.edit({ image: 'v2' });
    cluster.steps(100, 10);
    const v2 = cluster.revision('v2');
    expect([cluster.rows(), cluster.serving(), cluster.fewestServing]).toEqual([
      '0 failed, 1 ready, 2 ready',
      '0-default-0, 1-default-0, 2-default-0',
      3,
    ]);
    expect(cluster.status.blocks).toMatchObject([
      { target: v2, state: 'Held', attempts: 3, reason: 'ImagePullBackOff' },
    ]);
    expect(cluster.status.rolloutHold).toMatchObject({
      gate: 'Held',
      reason: `update to ${v2} held after 3 failed attempt(s): ImagePullBackOff`,
    });
    expect(cluster.events.filter(({ reason }) => reason === 'RetryHeld').map(({ text }) => text)).toEqual([
      `InferenceReplica prod/chat-engine component=engine update to revision ${v2} held after 3 failed attempt(s) (last failure: ImagePullBackOff); publish a corrected revision or raise lifecycle.updateRetry limits`,
    ]);
    const { writes } = cluster;
    cluster.steps(20, 1000);
    expect(cluster.writes).toBe(writes);
  });

  it('is put right by a corrected revision, though what it left holds the only slot', () => {
    const cluster = stuck();
    cluster.fates.clear();
    cluster.edit({ image: 'v3' });
    stepUntil(cluster, isOn(cluster, 'v3'));
    expect(cluster.fewestServing).toBe(3);
  });

  it('is undone by going back, and what it left is removed [B16]', () => {
    const cluster = stuck();
    cluster.edit({ image: 'v1' });
    stepUntil(cluster, isOn(cluster, 'v1'));
    cluster.settle();
    expect([cluster.pods.size, cluster.fewestServing]).toEqual([3, 3]);
  });

  it('by pods that no node takes costs nothing but a few tries an hour, and stays with one Instance', () => {
    const cluster = serving();
    cluster.fates.set('v2', 'rejected');
    cluster.edit({ image: 'v2' });
    cluster.steps(300, 20);
    expect(cluster.rows()).toMatch(/^0 (failed|updating), 1 ready, 2 ready$/);
    expect(cluster.fewestServing).toBe(3);
    expect(cluster.log.filter((line) => line.startsWith('create')).length).toBeLessThan(28);
  });
});

describe('a pause', () => {
  it.each([1, 2, 3, 4, 5])(
    'at second %p of an update starts nothing, fails nothing, and ends where it began [B10]',
    (second) => {
      const cluster = serving();
      cluster.edit({ image: 'v2' });
      cluster.steps(second);
      const before = cluster.log.filter((line) => line.startsWith('create')).length;
      cluster.edit({ pause: 'recover' });
      cluster.steps(30, 100);
      expect(cluster.log.filter((line) => line.startsWith('create')).length).toBe(before);
      expect(cluster.rows()).not.toContain('failed');
      const { writes } = cluster;
      cluster.steps(5, 100);
      expect(cluster.writes).toBe(writes);
      cluster.edit({ pause: 'running' });
      stepUntil(cluster, isOn(cluster, 'v2'));
      expect(cluster.fewestServing).toBe(3);
    },
  );

  it('keeps the old pod in rotation beside its replacement [E58]', () => {
    const cluster = serving();
    cluster.edit({ image: 'v2' });
    cluster.step();
    cluster.edit({ pause: 'freeze' });
    cluster.steps(10);
    expect([cluster.rows(), cluster.serving()]).toEqual([
      '0 updating, 1 ready, 2 ready',
      '0-default-0, 0-default-1, 1-default-0, 2-default-0',
    ]);
  });

  it('of a creation lets what is under way come up and starts no other', () => {
    const cluster = new ToyCluster({ spec: { replicas: 3 }, config: { scaleUpPodBatch: 2 } });
    cluster.pass();
    cluster.edit({ pause: 'freeze' });
    cluster.settle();
    expect(cluster.rows()).toBe('0 ready, 1 ready');
    cluster.edit({ pause: 'running' });
    cluster.settle();
    expect(cluster.rows()).toBe('0 ready, 1 ready, 2 ready');
  });

  it('lets scale-down and deletion go on', () => {
    const cluster = serving();
    cluster.edit({ pause: 'freeze', replicas: 1 });
    cluster.settle();
    expect(cluster.podNames()).toBe('0-default-0');
    cluster.delete();
    cluster.settle();
    expect([cluster.podNames(), cluster.finalizer]).toEqual(['', 'absent']);
  });

  it('leaves what lost its pods Pending until it ends', () => {
    const cluster = serving();
    cluster.edit({ pause: 'recover' });
    cluster.lose('1-default-0');
    cluster.steps(5);
    expect(cluster.rows()).toBe('0 ready, 1 pending, 2 ready');
    cluster.edit({ pause: 'running' });
    cluster.settle();
    expect(cluster.rows()).toBe('0 ready, 1 ready, 2 ready');
  });
});

describe('scaling in mid-update', () => {
  it('down takes whole Instances, update and all, and leaves the rest moving [B64]', () => {
    const cluster = serving({ maxSurge: 3 });
    cluster.edit({ image: 'v2' });
    cluster.step();
    cluster.edit({ replicas: 1 });
    cluster.passes();
    expect(cluster.rows()).toBe('0 updating, 1 deleting, 2 deleting');
    stepUntil(cluster, isOn(cluster, 'v2'));
    cluster.settle();
    expect([cluster.rows(), cluster.pods.size]).toEqual(['0 ready', 1]);
  });

  it('up makes new Instances at the target', () => {
    const cluster = serving();
    cluster.edit({ image: 'v2', replicas: 4 });
    cluster.step();
    expect(cluster.row(3)).toMatchObject({ kind: 'creating', op: { target: cluster.revision('v2') } });
    stepUntil(cluster, isOn(cluster, 'v2'));
    expect(cluster.fewestServing).toBe(3);
  });
});
