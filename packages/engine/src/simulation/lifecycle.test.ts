/** Whole lives of a replica in a toy cluster, step by step: creation, loss, scaling, deletion. */
import { describe, expect, it } from '@jest/globals';
import { ToyCluster } from '../testing/toy-cluster.js';
import { chartConfig, gang } from '../testing/world.js';

/** A cluster in which `replicas` Instances have come up and serve. */
function serving(replicas: number, options: ConstructorParameters<typeof ToyCluster>[0] = {}): ToyCluster {
  const cluster = new ToyCluster({ ...options, spec: { replicas, ...options.spec } });
  cluster.settle();
  expect(cluster.servingInstances()).toBe(replicas);
  cluster.log.length = 0;
  cluster.fewestServing = replicas;
  return cluster;
}

/** When the attempts at Instance `index` began, over so many seconds of steps of 10 s. */
function attemptsOf(cluster: ToyCluster, index: number, seconds: number): readonly number[] {
  const started = new Set<number>();
  for (let gone = 0; gone < seconds; gone += 10) {
    cluster.step(10);
    const row = cluster.row(index);
    if (row?.kind === 'creating' && row.op.startedAt !== undefined) started.add(row.op.startedAt);
  }
  return [...started];
}

describe('creation', () => {
  it('goes from rows to pods to rotation to Ready [A16]', () => {
    const cluster = new ToyCluster({ spec: { replicas: 2 } });
    cluster.passes();
    expect([cluster.finalizer, cluster.headlessService]).toEqual(['present', 'present']);
    expect([cluster.rows(), cluster.podNames()]).toEqual(['0 creating, 1 creating', '0-default-0, 1-default-0']);
    cluster.steps(2);
    expect(cluster.rows()).toBe('0 ready, 1 ready');
    expect(cluster.serving()).toBe('0-default-0, 1-default-0');
    expect(cluster.status).toMatchObject({ current: cluster.revision('v1'), update: cluster.revision('v1') });
  });

  it('brings 250 Instances in by batches of 100, each pod made once [E2]', () => {
    const cluster = new ToyCluster({ spec: { replicas: 250 } });
    cluster.pass();
    expect(cluster.pods.size).toBe(100);
    cluster.settle();
    expect(cluster.servingInstances()).toBe(250);
    expect(new Set(cluster.log).size).toBe(cluster.log.length);
  });

  it('lets a gang in together', () => {
    const cluster = new ToyCluster({ spec: { runners: gang(2) } });
    cluster.fates.set('0-worker-1', 'slow');
    cluster.steps(5);
    expect([cluster.podNames(), cluster.serving()]).toEqual(['0-leader-0, 0-worker-0, 0-worker-1', '']);
    cluster.fates.delete('0-worker-1');
    cluster.settle();
    expect(cluster.serving()).toBe('0-leader-0, 0-worker-0, 0-worker-1');
  });

  it('carries on from any crash between status and effects, with no pod made twice [E206] [B36]', () => {
    const cluster = new ToyCluster({ spec: { replicas: 3 } });
    for (let second = 0; second < 8; second++) {
      cluster.crash();
      cluster.step();
    }
    expect(cluster.servingInstances()).toBe(3);
    expect(cluster.log).toEqual(['create 0-default-0', 'create 1-default-0', 'create 2-default-0']);
  });

  it('that its image fails is held after three attempts and starts over in the same place at a corrected one', () => {
    const cluster = new ToyCluster({ spec: { replicas: 2 } });
    cluster.fates.set('v1', 'noImage');
    cluster.steps(100, 10);
    expect(cluster.rows()).toBe('0 failed, 1 failed');
    expect(cluster.status.blocks).toMatchObject([{ state: 'Held', attempts: 3 }]);
    const { writes } = cluster;
    cluster.steps(20, 100);
    expect([cluster.rows(), cluster.writes]).toEqual(['0 failed, 1 failed', writes]);
    cluster.edit({ image: 'v2' });
    cluster.settle();
    expect([cluster.rows(), cluster.serving()]).toEqual(['0 ready, 1 ready', '0-default-0, 1-default-0']);
    expect(cluster.row(0)).toMatchObject({ running: cluster.revision('v2'), incarnation: 1 });
  });

  it('that crashes is tried again and again, ever more rarely and never held, until it works', () => {
    const cluster = new ToyCluster();
    cluster.fates.set('v1', 'crashLoop');
    const attempts = attemptsOf(cluster, 0, 20_000);
    const pauses = attempts.slice(1).map((at, i) => at - (attempts[i] ?? 0));
    expect(pauses.slice(0, 7).map((pause) => Math.round((pause - 60) / 30) * 30)).toEqual([
      60, 120, 240, 480, 960, 1800, 1800,
    ]);
    expect(cluster.status.blocks).toMatchObject([
      { state: expect.stringMatching('Backoff|RetryInProgress'), attempts: 0 },
    ]);
    cluster.fates.clear();
    cluster.steps(200, 10);
    expect([cluster.rows(), cluster.status.blocks]).toEqual(['0 ready', []]);
  });

  it('that every kubelet rejects is tried a few times an hour, not thousands [B53]', () => {
    const cluster = new ToyCluster();
    cluster.fates.set('v1', 'rejected');
    cluster.steps(720, 5);
    const created = cluster.log.filter((line) => line.startsWith('create')).length;
    expect(created).toBeLessThan(16);
    cluster.steps(720, 5);
    expect(cluster.log.filter((line) => line.startsWith('create')).length - created).toBeLessThan(16);
    expect(cluster.status.blocks).toMatchObject([{ attempts: 0 }]);
  });
});

describe('a steady replica', () => {
  it('is not written to and asks for nothing, however long it stands [E189] [B23] [B101]', () => {
    const cluster = serving(3, { spec: { minReadySeconds: 30 } });
    cluster.steps(2, 100);
    const { writes } = cluster;
    const events = cluster.events.length;
    cluster.steps(50, 100);
    expect([cluster.writes, cluster.events.length, cluster.log]).toEqual([writes, events, []]);
  });
});

describe('loss', () => {
  it('of a pod makes its Instance anew under the same name and life', () => {
    const cluster = serving(2);
    cluster.lose('1-default-0');
    cluster.passes();
    expect(cluster.rows()).toBe('0 ready, 1 creating');
    cluster.settle();
    expect([cluster.rows(), cluster.log]).toEqual(['0 ready, 1 ready', ['create 1-default-0']]);
    expect(cluster.row(1)?.incarnation).toBe(1);
    expect(cluster.fewestServing).toBe(1);
  });

  it('of a pod that a drain evicts waits for its name', () => {
    const cluster = serving(1);
    cluster.evict('0-default-0');
    cluster.passes();
    expect([cluster.rows(), cluster.podNames()]).toEqual(['0 creating', '0-default-0 (ending)']);
    cluster.settle();
    expect(cluster.log).toEqual(['create 0-default-0']);
  });

  it('of one member of a gang leaves the others alone', () => {
    const cluster = serving(1, { spec: { runners: gang(2) } });
    cluster.lose('0-worker-0');
    cluster.settle();
    expect([cluster.rows(), cluster.log]).toEqual(['0 ready', ['create 0-worker-0']]);
  });

  it('of the status costs no pod [B36]', () => {
    const cluster = serving(3);
    cluster.status = { ...cluster.status, rows: new Map(), order: [] };
    cluster.settle();
    expect([cluster.rows(), cluster.log, cluster.fewestServing]).toEqual(['0 ready, 1 ready, 2 ready', [], 3]);
  });

  it('of the status in mid-update costs no Instance that serves', () => {
    const cluster = serving(3);
    cluster.edit({ image: 'v2' });
    cluster.step();
    cluster.status = { ...cluster.status, rows: new Map(), order: [] };
    cluster.settle();
    expect([cluster.rows(), cluster.fewestServing]).toEqual(['0 ready, 1 ready, 2 ready', 3]);
    expect(cluster.row(2)?.running).toBe(cluster.revision('v2'));
  });
});

describe('scaling', () => {
  it('up adds the lowest free indices, down removes the highest, out of rotation first', () => {
    const cluster = serving(2);
    cluster.edit({ replicas: 4 });
    cluster.settle();
    expect(cluster.serving()).toBe('0-default-0, 1-default-0, 2-default-0, 3-default-0');
    cluster.edit({ replicas: 1 });
    cluster.passes();
    expect(cluster.rows()).toBe('0 ready, 1 deleting, 2 deleting, 3 deleting');
    expect(cluster.log.filter((line) => line.startsWith('delete'))).toEqual([]);
    cluster.settle();
    expect([cluster.rows(), cluster.podNames()]).toEqual(['0 ready', '0-default-0']);
  });

  it('down goes in waves, each after the other', () => {
    const cluster = serving(4, { config: { ...chartConfig, scaleDownPodBatch: 1 } });
    cluster.edit({ replicas: 1 });
    cluster.settle();
    expect(cluster.log).toEqual(['delete 3-default-0', 'delete 2-default-0', 'delete 1-default-0']);
  });

  it('down and up again before the drain is over gives the place to another', () => {
    const cluster = serving(2);
    cluster.edit({ replicas: 1 });
    cluster.passes();
    cluster.edit({ replicas: 2 });
    cluster.settle();
    expect([cluster.rows(), cluster.podNames()]).toEqual(['0 ready, 2 ready', '0-default-0, 2-default-0']);
  });

  it('down waits for a hung node until the deadline, says so once, and ends when the pod is gone [E140]', () => {
    const cluster = serving(2);
    cluster.hung.add('1-default-0');
    cluster.edit({ replicas: 1 });
    cluster.steps(10, 100);
    expect([cluster.rows(), cluster.log]).toEqual(['0 ready, 1 deleting', []]);
    cluster.steps(10, 100);
    expect(cluster.log).toEqual(['delete 1-default-0']);
    expect(cluster.events.filter((event) => event.reason === 'DrainOverdue')).toHaveLength(1);
    const { writes } = cluster;
    cluster.steps(10, 100);
    expect([cluster.rows(), cluster.writes]).toEqual(['0 ready, 1 deleting', writes]);
    cluster.lose('1-default-0');
    cluster.settle();
    expect(cluster.rows()).toBe('0 ready');
  });
});

describe('deletion of the replica', () => {
  it('drains, deletes, takes the headless Service away and lets go, in this order [A15]', () => {
    const cluster = serving(2);
    cluster.delete();
    cluster.passes();
    expect([cluster.rows(), cluster.serving()]).toEqual(['0 deleting, 1 deleting', '0-default-0, 1-default-0']);
    cluster.step();
    expect(cluster.podNames()).toBe('0-default-0 (ending), 1-default-0 (ending)');
    expect([cluster.finalizer, cluster.headlessService]).toEqual(['present', 'present']);
    cluster.step();
    expect([cluster.rows(), cluster.podNames(), cluster.finalizer, cluster.headlessService]).toEqual([
      '',
      '',
      'absent',
      'absent',
    ]);
  });

  it('makes nothing any more, whatever was under way [B91]', () => {
    const cluster = serving(3, { config: { ...chartConfig, scaleDownPodBatch: 1 } });
    cluster.lose('0-default-0');
    cluster.edit({ image: 'v2', replicas: 6 });
    cluster.passes();
    expect(cluster.rows()).toBe('0 creating, 1 updating, 2 updating, 3 creating, 4 creating, 5 creating');
    cluster.log.length = 0;
    for (const name of ['0-default-0', '1-default-1', '3-default-0']) cluster.lose(name);
    cluster.delete();
    cluster.settle(200);
    expect(cluster.log.filter((line) => line.startsWith('create'))).toEqual([]);
    expect([cluster.rows(), cluster.podNames(), cluster.finalizer]).toEqual(['', '', 'absent']);
  });

  it('lets go at its deadline when a node never lets a pod end [E211]', () => {
    const cluster = serving(1);
    cluster.hung.add('0-default-0');
    cluster.delete();
    cluster.steps(17, 100);
    expect(cluster.finalizer).toBe('present');
    cluster.steps(1, 100);
    expect(cluster.finalizer).toBe('absent');
    expect(cluster.events.filter((event) => event.reason === 'TeardownDeadlineExceeded')).not.toEqual([]);
  });

  it('carries on from a crash at every second', () => {
    const cluster = serving(2);
    cluster.delete();
    for (let second = 0; second < 6; second++) {
      cluster.crash();
      cluster.step();
    }
    expect([cluster.rows(), cluster.podNames(), cluster.finalizer]).toEqual(['', '', 'absent']);
  });
});
