/** What fails and is tried again in a toy cluster: how often, how long, and how it ends. */
import { describe, expect, it } from '@jest/globals';
import { annotation, type Rev } from '@omenative/api';
import type { PlanSpec } from '../snapshot.js';
import { ToyCluster, type ToyOptions } from '../testing/toy-cluster.js';
import { isOn, stepUntil } from '../testing/until.js';
import { chartConfig, gang } from '../testing/world.js';

const { updateRetry: _policy, ...withoutRetry } = chartConfig;

function update(over: Partial<PlanSpec['update']> = {}): PlanSpec['update'] {
  return { type: 'SurgeThenDrain', partition: 0, maxSurge: 1, maxUnavailable: 1, inPlace: 'markNotReady', ...over };
}

/** Instances that serve v1, three of them unless said. */
function serving(options: ToyOptions = {}): ToyCluster {
  const cluster = new ToyCluster({ ...options, spec: { replicas: 3, update: update(), ...options.spec } });
  stepUntil(cluster, isOn(cluster, 'v1'));
  cluster.settle();
  cluster.log.length = 0;
  cluster.fewestServing = cluster.servingInstances();
  return cluster;
}

const said = (cluster: ToyCluster, reason: string): readonly string[] =>
  cluster.events.filter((event) => event.reason === reason).map(({ text }) => text);

/** The user asks, and a second goes by; what was said of it. */
function ask(cluster: ToyCluster, key: string, value: string): readonly string[] {
  const before = cluster.events.length;
  cluster.annotations.set(key, value);
  cluster.step();
  expect(cluster.annotations.has(key)).toBe(false);
  return cluster.events
    .slice(before)
    .filter(({ reason }) => /^(InstancesReset|RetryBlockRel)/.test(reason))
    .map(({ reason }) => reason);
}

/** Updates to v2, whose image nobody can pull, until it is held. */
function heldAtV2(options: ToyOptions = {}): { readonly cluster: ToyCluster; readonly v2: Rev } {
  const cluster = serving(options);
  cluster.fates.set('v2', 'noImage');
  cluster.edit({ image: 'v2' });
  cluster.steps(120, 10);
  expect(cluster.status.rolloutHold?.gate).toBe('Held');
  return { cluster, v2: cluster.revision('v2') };
}

describe('a revision whose pods never get ready', () => {
  it('fails at the deadline with what the pods lack, and is never held [A14]', () => {
    const cluster = new ToyCluster({ spec: { instanceReadyTimeoutSec: 30 } });
    cluster.fates.set('v1', 'neverReady');
    cluster.steps(31);
    expect(cluster.row(0)).toMatchObject({ kind: 'failed', lastFailure: { reason: 'ContainersNotReady' } });
    expect(cluster.status.conditions.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      reason: 'InstanceFailed',
    });
    for (let hour = 0; hour < 6; hour++) {
      cluster.steps(30, 120);
      expect(cluster.status.blocks).toMatchObject([{ attempts: 0, state: expect.not.stringContaining('Held') }]);
    }
    expect(said(cluster, 'RetryHeld')).toEqual([]);
    cluster.fates.clear();
    cluster.settle();
    expect([cluster.rows(), cluster.status.blocks]).toEqual(['0 ready', []]);
  });
});

describe('an update to a broken image', () => {
  it('goes on by itself when the image is there for the second attempt, and nothing is held against it', () => {
    const cluster = serving();
    cluster.fates.set('v2', 'noImage');
    cluster.edit({ image: 'v2' });
    stepUntil(cluster, () => cluster.row(0)?.kind === 'failed');
    cluster.fates.clear();
    stepUntil(cluster, isOn(cluster, 'v2'));
    expect([cluster.status.blocks, cluster.fewestServing]).toEqual([[], 3]);
    expect(said(cluster, 'InstanceFailed')).toHaveLength(1);
  });

  it('tries one Instance at a time after the first wave, however many the budget lets', () => {
    const cluster = serving({ spec: { update: update({ maxSurge: 3 }) } });
    cluster.fates.set('v2', 'noImage');
    cluster.edit({ image: 'v2' });
    let together = 0;
    cluster.steps(7, 10);
    expect(cluster.rows()).toBe('0 failed, 1 failed, 2 failed');
    expect(cluster.status.blocks).toMatchObject([{ attempts: 1 }]);
    for (let second = 0; second < 1000; second += 10) {
      cluster.step(10);
      const trying = [...cluster.status.rows.values()].filter((row) => row.kind === 'updating').length;
      together = Math.max(together, trying);
    }
    expect([together, cluster.status.blocks[0]?.state, cluster.fewestServing]).toEqual([1, 'Held', 3]);
  });

  it('is released by the user, fails once more and is held again; with the image it goes through [A9]', () => {
    const { cluster, v2 } = heldAtV2();
    expect(ask(cluster, annotation.releaseHeldRevision, v2.slice(-8))).toEqual(['RetryBlockReleased']);
    expect(cluster.rows()).toBe('0 updating, 1 ready, 2 ready');
    cluster.steps(120, 10);
    expect(cluster.status.blocks).toMatchObject([{ state: 'Held', attempts: 3 }]);
    cluster.fates.clear();
    expect(ask(cluster, annotation.releaseHeldRevision, v2)).toEqual(['RetryBlockReleased']);
    stepUntil(cluster, isOn(cluster, 'v2'));
    expect([cluster.fewestServing, cluster.status.blocks]).toEqual([3, []]);
    expect(ask(cluster, annotation.releaseHeldRevision, v2)).toEqual(['RetryBlockReleaseSkipped']);
  });

  it('that a user pauses is not tried while that lasts, and is when it ends', () => {
    const cluster = serving();
    cluster.fates.set('v2', 'noImage');
    cluster.edit({ image: 'v2' });
    stepUntil(cluster, () => cluster.row(0)?.kind === 'failed');
    cluster.edit({ pause: 'recover' });
    cluster.fates.clear();
    const { length } = cluster.log;
    cluster.steps(10, 100);
    expect([cluster.log.length, cluster.rows()]).toEqual([length, '0 failed, 1 ready, 2 ready']);
    cluster.edit({ pause: 'running' });
    stepUntil(cluster, isOn(cluster, 'v2'));
  });

  it('that the API server refuses makes no pod, and is held after three attempts', () => {
    const cluster = serving();
    cluster.refusals.set('v2', 'invalid');
    cluster.edit({ image: 'v2' });
    cluster.steps(60, 10);
    expect(cluster.status.blocks).toMatchObject([{ state: 'Held', attempts: 3, reason: 'InvalidPodSpec' }]);
    expect([cluster.refused, cluster.log, cluster.fewestServing]).toEqual([3, [], 3]);
  });
});

describe('a reset', () => {
  it('is answered, taken off the replica, and has the Instance made anew when its revision is released [A8] [A9]', () => {
    const cluster = new ToyCluster();
    cluster.fates.set('v1', 'noImage');
    cluster.steps(120, 10);
    expect(ask(cluster, annotation.resetInstances, 'All')).toEqual(['InstancesResetRejected']);
    expect(cluster.podNames()).toBe('0-default-0');
    expect(ask(cluster, annotation.resetInstances, '0')).toEqual(['InstancesReset']);
    cluster.fates.clear();
    cluster.steps(5);
    expect([cluster.rows(), cluster.podNames()]).toEqual(['0 failed', '']);
    expect(ask(cluster, annotation.releaseHeldRevision, cluster.revision('v1'))).toEqual(['RetryBlockReleased']);
    stepUntil(cluster, isOn(cluster, 'v1'));
    expect(ask(cluster, annotation.resetInstances, '0')).toEqual(['InstancesResetSkipped']);
    expect(said(cluster, 'InstancesResetSkipped')).toEqual([expect.stringContaining('instance(s) 0 (still serving)')]);
    cluster.settle();
    expect(cluster.serving()).toBe('0-default-0');
  });
});

describe('a gang surge', () => {
  const gangs: ToyOptions = { spec: { replicas: 2, runners: gang(1) } };

  it('that fails for the image removes what it made, wave by wave, and is held after three [E65] [E64] [E66]', () => {
    const { cluster, v2 } = heldAtV2(gangs);
    expect([cluster.rows(), cluster.podNames(), cluster.fewestServing]).toEqual([
      '0 ready, 1 ready',
      '0-leader-0, 0-worker-0, 1-leader-0, 1-worker-0',
      2,
    ]);
    expect(cluster.status.blocks).toMatchObject([{ target: v2, state: 'Held', attempts: 3 }]);
    expect(said(cluster, 'GangSurgeAbandoned')).toHaveLength(3);
    expect(said(cluster, 'RetryHeld')).toHaveLength(1);
    expect(cluster.events.find(({ reason }) => reason === 'GangSurgeAbandoned')?.type).toBe('Warning');
    const { writes } = cluster;
    cluster.steps(20, 1000);
    expect(cluster.writes).toBe(writes);
  });

  it('that crashes is tried ever more rarely and never held', () => {
    const cluster = serving(gangs);
    cluster.fates.set('v2', 'crashLoop');
    cluster.edit({ image: 'v2' });
    cluster.steps(360, 20);
    const waves = said(cluster, 'GangSurgeAbandoned').length;
    cluster.steps(360, 20);
    expect(said(cluster, 'GangSurgeAbandoned').length - waves).toBeLessThan(waves);
    expect(cluster.status.blocks).toMatchObject([{ attempts: 0 }]);
    expect([cluster.fewestServing, said(cluster, 'RetryHeld')]).toEqual([2, []]);
  });

  it('without room is given up after the grace, records no block however often, and goes through when there is [E66] [B12]', () => {
    const cluster = serving(gangs);
    cluster.fates.set('v2', 'noRoom');
    cluster.edit({ image: 'v2' });
    cluster.steps(3);
    expect(cluster.row(0)).toMatchObject({ kind: 'gangFrom', op: { waiting: 'Unschedulable' } });
    cluster.steps(200, 20);
    expect(said(cluster, 'GangSurgeAbandoned').length).toBeGreaterThanOrEqual(3);
    expect([cluster.status.blocks, cluster.fewestServing]).toEqual([[], 2]);
    cluster.fates.clear();
    stepUntil(cluster, isOn(cluster, 'v2'));
  });
});

describe('a gang that is recreated', () => {
  const gangs: ToyOptions = { spec: { replicas: 2, runners: gang(1), update: update({ type: 'RecreatePod' }) } };

  it.each([
    ['with', chartConfig],
    ['without', withoutRetry],
  ])('into a namespace that goes is not tried in a hot loop, %s a retry policy [B91] [B101]', (_, config) => {
    const cluster = serving({ ...gangs, config });
    cluster.refusals.set('v2', 'namespaceTerminating');
    cluster.edit({ image: 'v2' });
    cluster.steps(60);
    const { refused, writes } = cluster;
    cluster.steps(100);
    expect(cluster.refused - refused).toBeLessThanOrEqual(4);
    expect(cluster.writes - writes).toBeLessThanOrEqual(16);
  });

  it('and crashes is tried ever more rarely, and the other one serves on', () => {
    const cluster = serving(gangs);
    cluster.fates.set('v2', 'crashLoop');
    cluster.edit({ image: 'v2' });
    cluster.steps(360, 20);
    const tries = said(cluster, 'RecreateUpdateStarted').length;
    expect(tries).toBeGreaterThan(2);
    cluster.steps(360, 20);
    expect(said(cluster, 'RecreateUpdateStarted').length - tries).toBeLessThan(tries);
    expect(cluster.fewestServing).toBe(1);
    cluster.fates.clear();
    cluster.edit({ image: 'v3' });
    stepUntil(cluster, isOn(cluster, 'v3'));
    expect(cluster.fewestServing).toBe(1);
  });
});

describe('a quota that is full', () => {
  it('holds an update with all old pods serving, with few refused creates and no failure, until there is room [B93]', () => {
    const cluster = serving();
    cluster.refusals.set('v2', 'quota');
    cluster.edit({ image: 'v2' });
    cluster.steps(2);
    const { writes } = cluster;
    cluster.steps(200, 10);
    expect(cluster.row(0)).toMatchObject({ kind: 'updating', op: { waiting: 'QuotaExceeded' } });
    expect(cluster.status.blocks).toEqual([]);
    expect(cluster.refused).toBeLessThanOrEqual(40);
    expect(cluster.writes - writes).toBeLessThanOrEqual(40);
    cluster.refusals.clear();
    stepUntil(cluster, isOn(cluster, 'v2'));
    expect(cluster.fewestServing).toBe(3);
  });
});

describe('without a retry policy', () => {
  it('what crashes is tried once, and put right by the next revision', () => {
    const cluster = serving({ config: withoutRetry });
    cluster.fates.set('v2', 'crashLoop');
    cluster.edit({ image: 'v2' });
    cluster.steps(50, 10);
    const { writes } = cluster;
    cluster.steps(20, 1000);
    expect([said(cluster, 'RecreateUpdateStarted').length, cluster.writes]).toEqual([1, writes]);
    expect(cluster.fewestServing).toBe(3);
    cluster.edit({ image: 'v3' });
    stepUntil(cluster, isOn(cluster, 'v3'));
  });
});
