/** Updates that recreate pods or change them in place, in a toy cluster, step by step; and strategies that change under way. */
import { describe, expect, it } from '@jest/globals';
import type { Strategy } from '@omenative/api';
import type { PlanSpec } from '../snapshot.js';
import { type Fate, ToyCluster } from '../testing/toy-cluster.js';
import { isOn, stepUntil } from '../testing/until.js';

type Update = PlanSpec['update'];

/** Three Instances that serve v1, of which an update may take one out at a time, or make one pod more. */
function serving(type: Strategy, over: Partial<Update> = {}): ToyCluster {
  const cluster = new ToyCluster({ spec: { replicas: 3, update: update(type, over) } });
  stepUntil(cluster, isOn(cluster, 'v1'));
  cluster.settle();
  cluster.log.length = 0;
  cluster.fewestServing = 3;
  return cluster;
}

function update(type: Strategy, over: Partial<Update> = {}): Update {
  return { type, partition: 0, maxSurge: 1, maxUnavailable: 1, inPlace: 'markNotReady', ...over };
}

const lives = (cluster: ToyCluster): readonly unknown[] =>
  [...cluster.status.rows.values()].map((row) => row.incarnation);

/** An update to a revision of this fate takes one Instance out and no other, and the next revision goes through. */
function expectToStopAt(fate: Fate, type: Strategy): void {
  const cluster = serving(type);
  cluster.fates.set('v2', fate);
  cluster.edit({ image: 'v2' });
  cluster.steps(30, 100);
  expect([cluster.fewestServing, cluster.servingInstances()]).toEqual([2, 2]);
  cluster.edit({ image: 'v3' });
  stepUntil(cluster, isOn(cluster, 'v3'));
  expect(cluster.fewestServing).toBe(2);
}

describe('an update that recreates', () => {
  it('takes one Instance after the other, each under its own name, old pod out before the new one comes', () => {
    const cluster = serving('RecreatePod');
    cluster.edit({ image: 'v2' });
    const most = stepUntil(cluster, isOn(cluster, 'v2'));
    cluster.settle();
    expect(cluster.log).toEqual(
      [0, 1, 2].flatMap((index) => [`delete ${index}-default-0`, `create ${index}-default-0`]),
    );
    expect([most, cluster.fewestServing, lives(cluster)]).toEqual([3, 2, [2, 2, 2]]);
    expect(cluster.status).toMatchObject({ current: cluster.revision('v2'), counters: { updated: 3, serving: 3 } });
  });

  it('carries on from a crash at every second, with no pod deleted or made twice [E211]', () => {
    const cluster = serving('RecreatePod');
    cluster.edit({ image: 'v2' });
    for (let second = 0; second < 40; second++) {
      cluster.crash();
      cluster.step();
    }
    expect(isOn(cluster, 'v2')()).toBe(true);
    expect([new Set(cluster.log).size, cluster.log.length, cluster.fewestServing]).toEqual([6, 6, 2]);
  });

  it('stops at what fails, never takes a second one out, and goes on with the next revision [B05] [B16]', () => {
    expectToStopAt('neverReady', 'RecreatePod');
  });
});

describe('an update in place', () => {
  it('keeps every pod, takes one out at a time, and leaves no record behind', () => {
    const cluster = serving('InPlaceIfPossible');
    const uids = [...cluster.pods.values()].map((one) => one.uid);
    cluster.edit({ image: 'v2' });
    stepUntil(cluster, isOn(cluster, 'v2'));
    cluster.settle();
    expect(cluster.log).toEqual(['patch 0-default-0', 'patch 1-default-0', 'patch 2-default-0']);
    const pods = [...cluster.pods.values()];
    expect(pods.map((one) => [one.uid, one.inPlace, one.containers[0]?.runningImage])).toEqual(
      uids.map((uid) => [uid, undefined, 'v2']),
    );
    expect([cluster.fewestServing, lives(cluster), cluster.servingInstances()]).toEqual([2, [1, 1, 1], 3]);
  });

  it('can be followed by another, and by the way back [B86]', () => {
    const cluster = serving('InPlaceOnly');
    for (const image of ['v2', 'v3', 'v1']) {
      cluster.edit({ image });
      stepUntil(cluster, isOn(cluster, image));
    }
    cluster.settle();
    expect(cluster.log).toHaveLength(9);
    expect(cluster.fewestServing).toBe(2);
  });

  it('carries on from a crash at every second, and patches no pod twice [E211]', () => {
    const cluster = serving('InPlaceIfPossible');
    cluster.edit({ image: 'v2' });
    for (let second = 0; second < 40; second++) {
      cluster.crash();
      cluster.step();
    }
    expect(isOn(cluster, 'v2')()).toBe(true);
    expect(cluster.log).toHaveLength(3);
  });

  it.each([1, 2, 3, 4, 5, 6])('is undone at second %p, and every pod is let in again [B86] [B88]', (second) => {
    const cluster = serving('InPlaceIfPossible');
    cluster.edit({ image: 'v2' });
    cluster.steps(second);
    cluster.edit({ image: 'v1' });
    stepUntil(cluster, isOn(cluster, 'v1'));
    cluster.settle();
    expect([cluster.servingInstances(), cluster.fewestServing, lives(cluster)]).toEqual([3, 2, [1, 1, 1]]);
  });

  it('waits for a kubelet that does not answer, names the pod, and costs nobody else a place', () => {
    const cluster = serving('InPlaceIfPossible');
    cluster.hung.add('0-default-0');
    cluster.edit({ image: 'v2' });
    cluster.steps(10);
    expect(cluster.rows()).toBe('0 updating, 1 ready, 2 ready');
    expect(
      cluster
        .step()
        .holds.map((hold) => hold.text)
        .join('; '),
    ).toContain('0-default-0');
    cluster.hung.clear();
    stepUntil(cluster, isOn(cluster, 'v2'));
    expect(cluster.fewestServing).toBe(2);
  });

  it('of a pod that is lost goes on with another one [E29]', () => {
    const cluster = serving('InPlaceIfPossible');
    cluster.edit({ image: 'v2' });
    cluster.steps(2);
    cluster.lose('0-default-0');
    stepUntil(cluster, isOn(cluster, 'v2'));
    expect([cluster.log.filter((line) => line.startsWith('create')), lives(cluster)]).toEqual([
      ['create 0-default-0'],
      [2, 1, 1],
    ]);
  });

  it('to an image that crashes stops there, and goes on with the next revision [B16]', () => {
    expectToStopAt('crashLoop', 'InPlaceIfPossible');
  });
});

describe('a pause', () => {
  it.each(['RecreatePod', 'InPlaceIfPossible'] as const)(
    'lets the Instance that %s has begun finish, and starts no other [B10]',
    (type) => {
      const cluster = serving(type);
      cluster.edit({ image: 'v2' });
      cluster.steps(2);
      cluster.edit({ pause: 'freeze' });
      cluster.settle();
      expect(cluster.rows()).toBe('0 ready, 1 ready, 2 ready');
      expect([0, 1, 2].map((index) => cluster.row(index)?.running)).toEqual(
        ['v2', 'v1', 'v1'].map((image) => cluster.revision(image)),
      );
      cluster.edit({ pause: 'running' });
      stepUntil(cluster, isOn(cluster, 'v2'));
      expect(cluster.servingInstances()).toBe(3);
    },
  );
});

const strategies: readonly Strategy[] = ['SurgeThenDrain', 'RecreatePod', 'InPlaceIfPossible', 'InPlaceOnly'];
const switches = strategies.flatMap((from) => strategies.filter((to) => to !== from).map((to) => [from, to] as const));

describe('a strategy that is changed under way', () => {
  it.each(switches)('from %s to %s at any second leaves nothing behind [E54] [B90]', (from, to) => {
    for (const second of [1, 3, 5]) {
      const cluster = serving(from);
      cluster.edit({ image: 'v2' });
      cluster.steps(second);
      cluster.edit({ update: update(to) });
      stepUntil(cluster, isOn(cluster, 'v2'));
      cluster.settle();
      expect([cluster.pods.size, cluster.servingInstances()]).toEqual([3, 3]);
      expect(cluster.fewestServing).toBeGreaterThanOrEqual(2);
    }
  });

  it.each(switches)('from %s to %s after a failed update is put right by the next revision [B86] [B90]', (from, to) => {
    const cluster = serving(from);
    cluster.fates.set('v2', 'crashLoop');
    cluster.edit({ image: 'v2' });
    cluster.steps(12, 100);
    cluster.edit({ update: update(to) });
    cluster.steps(3);
    cluster.edit({ image: 'v3' });
    stepUntil(cluster, isOn(cluster, 'v3'));
    cluster.settle();
    expect([cluster.pods.size, cluster.servingInstances()]).toEqual([3, 3]);
    expect(cluster.fewestServing).toBeGreaterThanOrEqual(2);
  });
});
