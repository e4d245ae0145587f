/** Gangs in a toy cluster that are updated by surge: crash, pause, change of mind, loss, failure, scaling, change of shape. */
import { describe, expect, it } from '@jest/globals';
import { annotation } from '@omenative/api';
import type { PlanSpec } from '../snapshot.js';
import { GangCluster } from '../testing/gang-cluster.js';
import type { ToyCluster, ToyOptions } from '../testing/toy-cluster.js';
import { chartConfig, gang, single } from '../testing/world.js';

const update = (over: Partial<PlanSpec['update']> = {}): PlanSpec['update'] => ({
  type: 'SurgeThenDrain',
  partition: 0,
  inPlace: 'markNotReady',
  maxSurge: 1,
  ...over,
});

function stepUntil(cluster: ToyCluster, is: () => boolean): void {
  for (let count = 0; count < 200 && !is(); count++) cluster.step();
  expect([is(), cluster.rows()]).toEqual([true, cluster.rows()]);
}

/** Two gangs of a leader and a worker that serve v1. */
function twoGangs(spec: Partial<PlanSpec> = {}, options: ToyOptions = {}): GangCluster {
  const cluster = new GangCluster({ ...options, spec: { replicas: 2, runners: gang(1), update: update(), ...spec } });
  stepUntil(cluster, () => cluster.isOn('v1'));
  cluster.settle();
  cluster.log.length = 0;
  cluster.events.length = 0;
  cluster.fewestServing = 2;
  cluster.mostInstances = 2;
  return cluster;
}

const count = (cluster: ToyCluster, reason: string): number =>
  cluster.events.filter((event) => event.reason === reason).length;

describe('a surge of gangs', () => {
  it('replaces gang after gang at a new index, each before its old one leaves [E63] [B13]', () => {
    const cluster = twoGangs();
    cluster.edit({ image: 'v2' });
    stepUntil(cluster, () => cluster.isOn('v2'));
    cluster.settle();
    expect([cluster.rows(), cluster.fewestServing, cluster.mostInstances]).toEqual(['0 ready, 2 ready', 2, 3]);
    expect(cluster.log.slice(0, 4)).toEqual([
      'create 2-leader-0',
      'create 2-worker-0',
      'delete 0-leader-0',
      'delete 0-worker-0',
    ]);
    expect(cluster.serving()).toBe('0-leader-0, 0-worker-0, 2-leader-0, 2-worker-0');
    expect(count(cluster, 'RecreateUpdateCompleted')).toBe(2);
  });

  it('stops at its partition, which counts Instances and not indices [B08]', () => {
    const cluster = twoGangs({ replicas: 3, update: update({ partition: 1 }) });
    cluster.edit({ image: 'v2' });
    cluster.settle(120);
    const revisions = [...cluster.status.rows.values()].map(({ running }) => running);
    expect(revisions.filter((rev) => rev === cluster.revision('v1'))).toHaveLength(1);
    expect([cluster.row(0)?.running, cluster.status.rows.size]).toEqual([cluster.revision('v1'), 3]);
    cluster.edit({ update: update() });
    stepUntil(cluster, () => cluster.isOn('v2'));
  });

  it('carries on from a crash at every second, with one replacement each and no gap [E207] [E211] [B33]', () => {
    const cluster = twoGangs();
    cluster.edit({ image: 'v2' });
    for (let second = 0; second < 40; second++) {
      cluster.crash();
      cluster.step();
    }
    expect([cluster.isOn('v2'), cluster.fewestServing, cluster.log.length]).toEqual([true, 2, 8]);
  });

  it.each([1, 2, 3, 4, 5, 6, 7])('killed %p writes after the update began ends as if nothing had been', (writes) => {
    const cluster = twoGangs();
    cluster.edit({ image: 'v2' });
    for (let done = 0; done < writes; done++) {
      cluster.crash();
      cluster.now += 1;
      cluster.kubelets();
      cluster.slices();
    }
    stepUntil(cluster, () => cluster.isOn('v2'));
    cluster.settle();
    expect([cluster.fewestServing, cluster.pods.size, cluster.mostInstances]).toEqual([2, 4, 3]);
  });

  it('never begins without a slot, and says so [B02] [B03]', () => {
    const cluster = twoGangs({ update: update({ maxSurge: 0 }) });
    cluster.edit({ image: 'v2' });
    cluster.settle();
    expect([cluster.rows(), cluster.status.rolloutHold?.gate]).toEqual(['0 ready, 1 ready', 'Budget']);
  });
});

describe('a pause', () => {
  it.each([1, 2, 3, 4, 5, 6])(
    'at second %p stops the pair where it is and writes no more until it ends [B10]',
    (second) => {
      const cluster = twoGangs();
      cluster.edit({ image: 'v2' });
      cluster.steps(second);
      const step = (): unknown => {
        const row = cluster.row(0);
        return row?.kind === 'gangFrom' ? row.op.step : row?.kind;
      };
      cluster.edit({ pause: 'recover' });
      cluster.steps(6);
      const [paused, writes, rows] = [step(), cluster.writes, cluster.rows()];
      cluster.steps(20, 500);
      expect([step(), cluster.writes, cluster.rows(), cluster.fewestServing]).toEqual([paused, writes, rows, 2]);
      cluster.edit({ pause: 'running' });
      stepUntil(cluster, () => cluster.isOn('v2'));
      expect(cluster.fewestServing).toBe(2);
    },
  );
});

describe('a change of mind', () => {
  it('gives back what is not ready and goes on with the newest, one slot all the way [B05] [B06]', () => {
    const cluster = twoGangs();
    cluster.fates.set('v2', 'slow');
    cluster.edit({ image: 'v2' });
    cluster.steps(3);
    cluster.edit({ image: 'v3' });
    stepUntil(cluster, () => cluster.isOn('v3'));
    expect([cluster.fewestServing, cluster.mostInstances, count(cluster, 'GangSurgeAbandoned')]).toEqual([2, 3, 1]);
    expect(cluster.status.blocks).toEqual([]);
  });

  it('finishes first what is ready [E67]', () => {
    const cluster = twoGangs({ minReadySeconds: 5 });
    cluster.edit({ image: 'v2' });
    cluster.steps(4);
    cluster.edit({ image: 'v3' });
    stepUntil(cluster, () => cluster.row(2)?.running === cluster.revision('v2'));
    stepUntil(cluster, () => cluster.isOn('v3'));
    expect(cluster.fewestServing).toBe(2);
  });

  it('back to what runs leaves nothing behind [B16]', () => {
    const cluster = twoGangs();
    cluster.fates.set('v2', 'neverReady');
    cluster.edit({ image: 'v2' });
    cluster.steps(4);
    cluster.edit({ image: 'v1' });
    stepUntil(cluster, () => cluster.isOn('v1'));
    cluster.settle();
    expect([cluster.rows(), cluster.pods.size, cluster.fewestServing]).toEqual(['0 ready, 1 ready', 4, 2]);
  });

  it('rescues an update whose replacement went dark in mid-drain, without any deadline [B05]', () => {
    const cluster = twoGangs();
    cluster.edit({ image: 'v2' });
    cluster.hung.add('0-worker-0');
    stepUntil(cluster, () => cluster.row(0)?.kind === 'gangFrom' && !cluster.serving().includes('0-leader-0'));
    cluster.fates.set('v2', 'neverReady');
    cluster.steps(5);
    expect(cluster.row(0)).toMatchObject({ op: { step: 'SurgeDrain' } });
    cluster.hung.clear();
    cluster.edit({ image: 'v3' });
    cluster.steps(60);
    cluster.settle();
    expect([cluster.isOn('v3'), cluster.pods.size]).toEqual([true, 4]);
  });
});

describe('a loss in mid-surge', () => {
  it('of a member of the old gang is made good while that serves', () => {
    const cluster = twoGangs({ minReadySeconds: 30 });
    cluster.edit({ image: 'v2' });
    cluster.steps(2);
    cluster.lose('0-worker-0');
    cluster.steps(3);
    expect(cluster.pods.has('chat-engine-0-worker-0')).toBe(true);
    stepUntil(cluster, () => cluster.isOn('v2'));
  });

  it('of the whole old gang lets the new one take over', () => {
    const cluster = twoGangs();
    cluster.fates.set('v2', 'slow');
    cluster.edit({ image: 'v2' });
    cluster.steps(2);
    cluster.lose('0-leader-0');
    cluster.lose('0-worker-0');
    cluster.steps(3);
    expect(cluster.rows()).toBe('0 gangFrom, 1 ready, 2 gangTo');
    cluster.fates.clear();
    stepUntil(cluster, () => cluster.isOn('v2'));
    expect(count(cluster, 'InstanceDemoted')).toBe(0);
  });

  it('of a member of the new gang brings the old one back while that has not been asked to go', () => {
    const cluster = twoGangs();
    // Its kubelet never takes Ready back, so the drain can't end.
    cluster.hung.add('0-worker-0');
    cluster.edit({ image: 'v2' });
    stepUntil(cluster, () => cluster.serving().includes('2-leader-0') && !cluster.serving().includes('0-leader-0'));
    cluster.lose('2-worker-0');
    cluster.fates.set('2-worker-0', 'slow');
    cluster.steps(3);
    expect(cluster.serving()).toContain('0-leader-0, 0-worker-0');
    expect(cluster.log).not.toContain('delete 0-leader-0');
    cluster.fates.clear();
    cluster.hung.clear();
    stepUntil(cluster, () => cluster.isOn('v2'));
    cluster.settle();
    expect([cluster.pods.size, cluster.mostInstances]).toEqual([4, 3]);
  });
});

function isHeld(cluster: ToyCluster): boolean {
  return cluster.status.blocks.some(({ state }) => state === 'Held');
}

describe('a revision that can not start', () => {
  it('is tried as often as the ladder says, one wave an attempt, and then held with one word; the old gangs serve on [E65] [B101]', () => {
    const cluster = twoGangs({ update: update({ maxSurge: 2 }) });
    cluster.fates.set('v2', 'noImage');
    cluster.edit({ image: 'v2' });
    const attempts: number[] = [];
    for (let turn = 0; turn < 200 && !isHeld(cluster); turn++) {
      cluster.step(10);
      attempts.push(cluster.status.blocks[0]?.attempts ?? 0);
    }
    cluster.settle(120);
    expect([...new Set(attempts)]).toEqual([0, 1, 2, 3]);
    expect([cluster.rows(), cluster.pods.size, cluster.fewestServing]).toEqual(['0 ready, 1 ready', 4, 2]);
    expect([count(cluster, 'RetryHeld'), cluster.status.rolloutHold?.gate]).toEqual([1, 'Held']);
    const { writes } = cluster;
    cluster.steps(20, 1000);
    expect(cluster.writes).toBe(writes);
  });

  it('starts again when a user releases it, and a corrected one at once', () => {
    const cluster = twoGangs({}, { config: withoutRetry() });
    cluster.fates.set('v2', 'noImage');
    cluster.edit({ image: 'v2' });
    cluster.steps(30, 10);
    expect(isHeld(cluster)).toBe(true);
    cluster.fates.clear();
    cluster.annotations.set(annotation.releaseHeldRevision, cluster.revision('v2'));
    stepUntil(cluster, () => cluster.isOn('v2'));
    expect([cluster.status.blocks, cluster.annotations.size]).toEqual([[], 0]);
  });
});

function withoutRetry(): NonNullable<ToyOptions['config']> {
  const { updateRetry: _, ...config } = chartConfig;
  return config;
}

describe('scaling in mid-surge', () => {
  it('down keeps the pair and takes another gang [E74] [B64]', () => {
    const cluster = twoGangs();
    cluster.fates.set('v2', 'slow');
    cluster.edit({ image: 'v2' });
    cluster.steps(2);
    cluster.edit({ replicas: 1 });
    cluster.passes();
    expect(cluster.rows()).toBe('0 gangFrom, 1 deleting, 2 gangTo');
    cluster.fates.clear();
    stepUntil(cluster, () => cluster.isOn('v2'));
    cluster.settle();
    expect([cluster.rows(), cluster.pods.size]).toEqual(['2 ready', 2]);
  });

  it('up makes new gangs at the target, at indices of their own [E60] [E142]', () => {
    const cluster = twoGangs();
    cluster.edit({ image: 'v2' });
    cluster.steps(2);
    cluster.edit({ replicas: 4 });
    cluster.passes();
    expect(cluster.rows()).toBe('0 gangFrom, 1 ready, 2 gangTo, 3 creating, 4 creating');
    stepUntil(cluster, () => cluster.isOn('v2'));
    cluster.settle();
    expect([cluster.status.rows.size, cluster.pods.size, cluster.fewestServing]).toEqual([4, 8, 2]);
  });
});

describe('a change of shape', () => {
  it.each<[string, PlanSpec['runners'], PlanSpec['runners'], number]>([
    ['of one pod become a gang', single, gang(1), 2],
    ['of a gang become one pod', gang(1), single, 1],
    ['of a gang grow', gang(1), gang(2), 3],
    ['of a gang shrink', gang(2), gang(1), 2],
  ])('lets Instances %s, one by one, each replaced before it goes [B68]', (_, from, to, size) => {
    const cluster = new GangCluster({ spec: { replicas: 2, runners: from, update: update() } });
    stepUntil(cluster, () => cluster.isOn('v1'));
    cluster.settle();
    cluster.fewestServing = 2;
    cluster.edit({ image: 'v2', runners: to });
    cluster.steps(60);
    const { rows } = cluster.status;
    expect([cluster.isOn('v2'), cluster.pods.size, rows.size, cluster.fewestServing]).toEqual([true, 2 * size, 2, 2]);
  });
});
