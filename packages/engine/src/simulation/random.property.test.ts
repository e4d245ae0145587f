/**
 * Random lives in a toy cluster: users change their minds, pods are lost, nodes hang, images are bad, the controller is killed
 * and the status lost. Whatever happens, no pass takes the last serving pod of an Instance that stays, and when the faults
 * end and a good revision is there, the replica is whole, quiet, and gone without a trace when it is deleted.
 */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { IntOrPercent, PlanSpec } from '../snapshot.js';
import { befall, lag as lagBehind, loseRows, type Mishap } from '../testing/mishaps.js';
import { type Fate, ToyCluster } from '../testing/toy-cluster.js';
import { isServing } from '../units.js';

type Act =
  | { readonly act: 'step'; readonly times: number; readonly seconds: number }
  | { readonly act: 'image'; readonly image: string }
  | { readonly act: 'replicas'; readonly replicas: number }
  | { readonly act: 'pause'; readonly pause: PlanSpec['pause'] }
  | { readonly act: 'partition'; readonly partition: number }
  | { readonly act: 'fate'; readonly image: string; readonly fate: Fate }
  | { readonly act: Mishap; readonly pick: number }
  | { readonly act: 'lag'; readonly index: number }
  | { readonly act: 'crash' | 'loseStatus' };

const image = fc.constantFrom('v1', 'v2', 'v3');
const short = fc.record({
  act: fc.constant('step' as const),
  times: fc.integer({ min: 1, max: 3 }),
  seconds: fc.constantFrom(1, 1, 1, 5),
});
const long = fc.record({
  act: fc.constant('step' as const),
  times: fc.constant(1),
  seconds: fc.constantFrom(30, 70, 400, 2000),
});
const scale = fc.record({ act: fc.constant('replicas' as const), replicas: fc.integer({ min: 1, max: 4 }) });
const pause = fc.record({
  act: fc.constant('pause' as const),
  pause: fc.constantFrom('running', 'running', 'recover', 'freeze' as const),
});
const stage = fc.record({ act: fc.constant('partition' as const), partition: fc.integer({ min: 0, max: 2 }) });
const fate = fc.record({
  act: fc.constant('fate' as const),
  image,
  fate: fc.constantFrom('good', 'crashLoop', 'neverReady', 'rejected', 'slow' as const),
});
const misfortune = fc.record({
  act: fc.constantFrom('evict', 'lose', 'unready', 'hang' as const),
  pick: fc.nat({ max: 9 }),
});
const lag = fc.record({ act: fc.constant('lag' as const), index: fc.integer({ min: 0, max: 3 }) });
const crash = fc.record({ act: fc.constant('crash' as const) });

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: short },
  { weight: 1, arbitrary: long },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('image' as const), image }) },
  { weight: 1, arbitrary: scale },
  { weight: 1, arbitrary: pause },
  { weight: 1, arbitrary: stage },
  { weight: 1, arbitrary: fate },
  { weight: 2, arbitrary: misfortune },
  { weight: 1, arbitrary: lag },
  { weight: 1, arbitrary: crash },
);
const lossyAct: fc.Arbitrary<Act> = fc.oneof(
  { weight: 9, arbitrary: act },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('loseStatus' as const) }) },
);

const update = (maxSurge: IntOrPercent | undefined, partition = 0): PlanSpec['update'] => ({
  type: 'SurgeThenDrain',
  partition,
  inPlace: 'markNotReady',
  ...(maxSurge === undefined ? {} : { maxSurge }),
});

/** A cluster that fails the test when a pass takes the last serving pod of an Instance that is not leaving. */
class WatchedCluster extends ToyCluster {
  override pass(): ReturnType<ToyCluster['pass']> {
    const before = this.#served();
    const made = super.pass();
    const after = this.#served();
    for (const index of before) {
      const row = this.row(index);
      if (row === undefined || row.kind === 'deleting') continue;
      if (!after.has(index)) throw new Error(`Instance ${index} (${row.kind}) was taken out: ${this.podNames()}`);
    }
    return made;
  }

  #served(): ReadonlySet<number> {
    return new Set([...this.pods.values()].filter(isServing).map((one) => one.index));
  }
}

function happen(cluster: ToyCluster, what: Act, maxSurge: IntOrPercent | undefined): void {
  switch (what.act) {
    case 'step':
      cluster.steps(what.times, what.seconds);
      return;
    case 'image':
      cluster.edit({ image: what.image });
      break;
    case 'replicas':
      cluster.edit({ replicas: what.replicas });
      break;
    case 'pause':
      cluster.edit({ pause: what.pause });
      break;
    case 'partition':
      cluster.edit({ update: update(maxSurge, what.partition) });
      break;
    case 'fate':
      cluster.fates.set(what.image, what.fate);
      return;
    case 'evict':
    case 'lose':
    case 'unready':
    case 'hang':
      befall(cluster, what.act, what.pick);
      return;
    case 'lag':
      lagBehind(cluster, what.index);
      return;
    case 'crash':
      cluster.crash();
      return;
    case 'loseStatus':
      loseRows(cluster);
      break;
  }
  cluster.passes();
}

/** Faults end, nodes come back, and a good revision is published. */
function recover(cluster: ToyCluster, replicas: number, maxSurge: IntOrPercent | undefined): void {
  cluster.hung.clear();
  cluster.fates.clear();
  cluster.edit({ image: 'good', pause: 'running', replicas, update: update(maxSurge) });
  cluster.steps(80, 40);
}

function expectWhole(cluster: ToyCluster, replicas: number): void {
  const rows = [...cluster.status.rows.values()];
  expect(rows.map((row) => [row.kind, row.running])).toEqual(rows.map(() => ['ready', cluster.revision('good')]));
  expect([rows.length, cluster.pods.size, cluster.servingInstances()]).toEqual([replicas, replicas, replicas]);
  const { writes } = cluster;
  cluster.steps(5, 100);
  expect(cluster.writes).toBe(writes);
}

function expectGoneWhenDeleted(cluster: ToyCluster): void {
  cluster.delete();
  cluster.steps(12, 40);
  expect([cluster.rows(), cluster.podNames(), cluster.finalizer, cluster.headlessService]).toEqual([
    '',
    '',
    'absent',
    'absent',
  ]);
}

const setting = fc.record({
  replicas: fc.integer({ min: 1, max: 3 }),
  minReadySeconds: fc.constantFrom(0, 0, 3),
  maxSurge: fc.constantFrom<IntOrPercent | undefined>(1, 1, 2, '34%', undefined),
});

describe('a replica to which anything happens', () => {
  it('ends whole, quiet, and gone when deleted', () => {
    fc.assert(
      fc.property(
        setting,
        fc.array(act, { minLength: 3, maxLength: 25 }),
        ({ replicas, minReadySeconds, maxSurge }, acts) => {
          const cluster = new WatchedCluster({ spec: { replicas, minReadySeconds, update: update(maxSurge) } });
          cluster.settle();
          for (const what of acts) happen(cluster, what, maxSurge);
          recover(cluster, replicas, maxSurge);
          expectWhole(cluster, replicas);
          expectGoneWhenDeleted(cluster);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('does so even when its status is lost on the way', () => {
    fc.assert(
      fc.property(
        setting,
        fc.array(lossyAct, { minLength: 3, maxLength: 25 }),
        ({ replicas, minReadySeconds, maxSurge }, acts) => {
          const cluster = new WatchedCluster({ spec: { replicas, minReadySeconds, update: update(maxSurge) } });
          cluster.settle();
          for (const what of acts) happen(cluster, what, maxSurge);
          recover(cluster, replicas, maxSurge);
          expectWhole(cluster, replicas);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('never has more pods than its Instances and its surge', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 }),
        fc.constantFrom(1, 2),
        fc.array(act, { minLength: 3, maxLength: 25 }),
        (replicas, maxSurge, acts) => {
          const cluster = new ToyCluster({ spec: { replicas, update: update(maxSurge) } });
          cluster.settle();
          for (const what of acts) {
            happen(cluster, what, maxSurge);
            const staying = [...cluster.status.rows.values()]
              .filter((row) => row.kind !== 'deleting')
              .map((row) => row.index);
            const live = [...cluster.pods.values()].filter(
              (one) => staying.includes(one.index) && one.deletionAt === undefined && one.phase !== 'Failed',
            );
            expect(live.length).toBeLessThanOrEqual(staying.length + maxSurge);
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});
