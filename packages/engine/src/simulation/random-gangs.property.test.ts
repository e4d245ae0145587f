/**
 * Random lives of gangs under every strategy. Whatever happens, no life of a gang has pods of two revisions, and no pass takes
 * out a gang that serves unless an update has a replacement that serves or is meant to; when only users act, the budgets hold
 * at every second; and when the faults end, the replica is whole, quiet, and gone without a trace when it is deleted.
 */
import { describe, expect, it } from '@jest/globals';
import type { Strategy } from '@omenative/api';
import fc from 'fast-check';
import type { PlanSpec } from '../snapshot.js';
import { GangCluster } from '../testing/gang-cluster.js';
import { befall, lag, loseRows, type Mishap } from '../testing/mishaps.js';
import type { Fate } from '../testing/toy-cluster.js';
import { gang, single } from '../testing/world.js';

type Act =
  | { readonly steps: number; readonly seconds: number }
  | { readonly image: string }
  | { readonly pause: PlanSpec['pause'] }
  | { readonly partition: number }
  | { readonly replicas: number }
  | { readonly type: Strategy }
  | { readonly shape: 'gang' | 'single' }
  | { readonly lag: number }
  | { readonly crash: 'crash' | 'loseStatus' }
  | { readonly fate: Fate; readonly of: string }
  | { readonly befalls: Mishap; readonly pick: number };

const image = fc.constantFrom('v1', 'v2', 'v3');
const strategy = fc.constantFrom<Strategy>('SurgeThenDrain', 'SurgeThenDrain', 'RecreatePod', 'InPlaceIfPossible');
const fates = fc.constantFrom<Fate>('good', 'crashLoop', 'noImage', 'neverReady', 'rejected', 'noRoom', 'slow');
/** What users and the controller's own mishaps do to gangs that nothing else befalls. */
const calm: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ steps: fc.integer({ min: 1, max: 3 }), seconds: fc.constantFrom(1, 1, 1, 5) }),
  },
  { weight: 3, arbitrary: fc.record({ image }) },
  {
    weight: 1,
    arbitrary: fc.record({ pause: fc.constantFrom('running', 'running', 'recover', 'freeze' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ partition: fc.integer({ min: 0, max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ lag: fc.integer({ min: 0, max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ crash: fc.constant('crash' as const) }) },
);
const stormy: fc.Arbitrary<Act> = fc.oneof(
  { weight: 10, arbitrary: calm },
  { weight: 1, arbitrary: fc.record({ steps: fc.constant(1), seconds: fc.constantFrom(30, 70, 400, 2000) }) },
  { weight: 1, arbitrary: fc.record({ replicas: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ type: strategy }) },
  { weight: 1, arbitrary: fc.record({ shape: fc.constantFrom('gang', 'single' as const) }) },
  { weight: 1, arbitrary: fc.record({ fate: fates, of: image }) },
  {
    weight: 2,
    arbitrary: fc.record({
      befalls: fc.constantFrom('evict', 'lose', 'unready', 'hang' as const),
      pick: fc.nat({ max: 9 }),
    }),
  },
);
const lossy: fc.Arbitrary<Act> = fc.oneof(
  { weight: 9, arbitrary: stormy },
  { weight: 1, arbitrary: fc.record({ crash: fc.constant('loseStatus' as const) }) },
);

interface Setting {
  readonly replicas: number;
  readonly type: Strategy;
  readonly minReadySeconds: number;
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

const setting: fc.Arbitrary<Setting> = fc.record({
  replicas: fc.integer({ min: 1, max: 3 }),
  type: strategy,
  minReadySeconds: fc.constantFrom(0, 0, 3),
  maxSurge: fc.constantFrom(1, 1, 2),
  maxUnavailable: fc.constantFrom(1, 1, 2),
});

/** A cluster of gangs, and the policy that edits change bit by bit. */
class Life {
  readonly cluster: GangCluster;
  #update: PlanSpec['update'];

  constructor({ replicas, minReadySeconds, ...policy }: Setting) {
    this.#update = { ...policy, partition: 0, inPlace: 'markNotReady' };
    this.cluster = new GangCluster({ spec: { replicas, minReadySeconds, runners: gang(2), update: this.#update } });
    this.cluster.steps(8);
    expect(this.cluster.isOn('v1')).toBe(true);
    this.cluster.fewestServing = replicas;
    this.cluster.mostInstances = replicas;
  }

  happen(what: Act): void {
    const { cluster } = this;
    if ('steps' in what) cluster.steps(what.steps, what.seconds);
    else if ('fate' in what) cluster.fates.set(what.of, what.fate);
    else if ('befalls' in what) befall(cluster, what.befalls, what.pick);
    else if ('lag' in what) lag(cluster, what.lag);
    else if ('crash' in what) this.#crash(what.crash);
    else this.#edit(what);
  }

  /** Faults end, and a good revision of a gang is published. */
  recover(replicas: number): void {
    this.cluster.hung.clear();
    this.cluster.fates.clear();
    this.#update = { ...this.#update, partition: 0 };
    this.cluster.edit({ image: 'good', pause: 'running', replicas, update: this.#update, ...shapes.gang });
    this.cluster.steps(80, 40);
  }

  #edit(what: Act): void {
    if ('partition' in what || 'type' in what) {
      this.#update = { ...this.#update, ...what };
      this.cluster.edit({ update: this.#update });
    } else {
      this.cluster.edit('shape' in what ? shapes[what.shape] : (what as Partial<PlanSpec>));
    }
    this.cluster.passes();
  }

  #crash(what: 'crash' | 'loseStatus'): void {
    if (what === 'crash') this.cluster.crash();
    else loseRows(this.cluster);
  }
}

const shapes = {
  gang: { runners: gang(2), restartPolicy: 'RecreateInstanceOnPodRestart' },
  single: { runners: single, restartPolicy: 'None' },
} as const;

function expectWhole({ cluster }: Life, replicas: number): void {
  const rows = [...cluster.status.rows.values()];
  expect(rows.map((row) => [row.kind, row.running])).toEqual(rows.map(() => ['ready', cluster.revision('good')]));
  expect([rows.length, cluster.pods.size, cluster.servingInstances()]).toEqual([replicas, 3 * replicas, replicas]);
  const { writes } = cluster;
  cluster.steps(5, 100);
  expect(cluster.writes).toBe(writes);
}

function expectGoneWhenDeleted({ cluster }: Life): void {
  cluster.delete();
  cluster.steps(12, 40);
  expect([cluster.rows(), cluster.podNames(), cluster.finalizer]).toEqual(['', '', 'absent']);
}

describe('gangs to which only users act', () => {
  it('keep the budgets at every second: a surge costs nothing in service, and no more Instances than it may [B05] [B90]', () => {
    fc.assert(
      fc.property(setting, fc.array(calm, { minLength: 4, maxLength: 25 }), (given, acts) => {
        const life = new Life(given);
        for (const what of acts) life.happen(what);
        const { fewestServing, mostInstances } = life.cluster;
        const surges = given.type === 'SurgeThenDrain';
        expect(fewestServing).toBeGreaterThanOrEqual(given.replicas - (surges ? 0 : given.maxUnavailable));
        expect(mostInstances).toBeLessThanOrEqual(given.replicas + (surges ? given.maxSurge : 0));
      }),
      { numRuns: 20 },
    );
  });
});

describe('gangs to which anything happens', () => {
  it('end whole on the last good revision, quiet, and gone when deleted', () => {
    fc.assert(
      fc.property(setting, fc.array(stormy, { minLength: 3, maxLength: 25 }), (given, acts) => {
        const life = new Life(given);
        for (const what of acts) life.happen(what);
        life.recover(given.replicas);
        expectWhole(life, given.replicas);
        expectGoneWhenDeleted(life);
      }),
      { numRuns: 12 },
    );
  });

  it('do so even when their status is lost on the way', () => {
    fc.assert(
      fc.property(setting, fc.array(lossy, { minLength: 3, maxLength: 25 }), (given, acts) => {
        const life = new Life(given);
        for (const what of acts) life.happen(what);
        life.recover(given.replicas);
        expectWhole(life, given.replicas);
      }),
      { numRuns: 12 },
    );
  });
});
