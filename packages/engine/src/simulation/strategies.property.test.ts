/**
 * Random lives under strategies that change: users change image, strategy, pause and partition at any second, the controller
 * is killed and sees late. Nobody but the updates themselves takes an Instance out, so the budgets must hold at every second;
 * and with every kind of fault on top, the replica must still come to rest on the last good revision.
 */
import { describe, expect, it } from '@jest/globals';
import type { Strategy } from '@omenative/api';
import fc from 'fast-check';
import type { PlanSpec } from '../snapshot.js';
import { befall, lag, type Mishap } from '../testing/mishaps.js';
import { type Fate, ToyCluster } from '../testing/toy-cluster.js';

type Edit =
  | { readonly image: string }
  | { readonly strategy: Strategy; readonly inPlace: PlanSpec['update']['inPlace'] }
  | { readonly pause: PlanSpec['pause'] }
  | { readonly partition: number };
type Fault = { readonly fate: Fate; readonly of: string } | { readonly befalls: Mishap; readonly pick: number };
type Act =
  | Edit
  | Fault
  | { readonly crash: true }
  | { readonly lag: number }
  | { readonly steps: number; readonly seconds: number };

const image = fc.constantFrom('v1', 'v2', 'v3');
const strategy = fc.constantFrom<Strategy>('SurgeThenDrain', 'RecreatePod', 'InPlaceIfPossible', 'InPlaceOnly');
const inPlace = fc.constantFrom('markNotReady', 'keepReady' as const);
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ image }),
  fc.record({ image }),
  fc.record({ strategy, inPlace }),
  fc.record({ pause: fc.constantFrom('running', 'running', 'recover', 'freeze' as const) }),
  fc.record({ partition: fc.integer({ min: 0, max: 2 }) }),
);
const trouble: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ crash: fc.constant(true as const) }),
  fc.record({ lag: fc.integer({ min: 0, max: 2 }) }),
);
const time = fc.record({ steps: fc.integer({ min: 1, max: 3 }), seconds: fc.constantFrom(1, 1, 1, 5) });
const long = fc.record({ steps: fc.constant(1), seconds: fc.constantFrom(30, 70, 400, 2000) });
const fault: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ fate: fc.constantFrom<Fate>('good', 'crashLoop', 'neverReady', 'rejected', 'slow'), of: image }),
  fc.record({ befalls: fc.constantFrom('evict', 'lose', 'unready', 'hang' as const), pick: fc.nat({ max: 9 }) }),
);
const calm: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: time },
  { weight: 4, arbitrary: edit },
  { weight: 1, arbitrary: trouble },
);
const stormy: fc.Arbitrary<Act> = fc.oneof(
  { weight: 8, arbitrary: calm },
  { weight: 1, arbitrary: long },
  { weight: 3, arbitrary: fault },
);

/** A cluster, and the policy that edits change bit by bit. */
class Life {
  readonly cluster: ToyCluster;
  #update: PlanSpec['update'];

  constructor(replicas: number, type: Strategy) {
    this.#update = { type, partition: 0, maxSurge: 1, maxUnavailable: 1, inPlace: 'markNotReady' };
    this.cluster = new ToyCluster({ spec: { replicas, update: this.#update } });
    this.cluster.settle();
    this.cluster.fewestServing = replicas;
  }

  happen(what: Act): void {
    const { cluster } = this;
    if ('steps' in what) cluster.steps(what.steps, what.seconds);
    else if ('crash' in what) cluster.crash();
    else if ('lag' in what) lag(cluster, what.lag);
    else if ('fate' in what) cluster.fates.set(what.of, what.fate);
    else if ('befalls' in what) befall(cluster, what.befalls, what.pick);
    else this.#edit(what);
  }

  /** Faults end, and a good revision is published under whatever strategy there is by now. */
  recover(): void {
    this.cluster.hung.clear();
    this.cluster.fates.clear();
    this.#update = { ...this.#update, partition: 0 };
    this.cluster.edit({ image: 'good', pause: 'running', update: this.#update });
    this.cluster.steps(80, 40);
  }

  #edit(what: Edit): void {
    if ('image' in what || 'pause' in what) {
      this.cluster.edit(what);
    } else {
      const { strategy: type = this.#update.type, ...rest } = what as { readonly strategy?: Strategy };
      this.#update = { ...this.#update, ...rest, type };
      this.cluster.edit({ update: this.#update });
    }
    this.cluster.passes();
  }
}

describe('updates by changing strategies', () => {
  it('never take more than one Instance out, or make more than one pod more [B05] [B90]', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 }),
        strategy,
        fc.array(calm, { minLength: 4, maxLength: 25 }),
        (replicas, type, acts) => {
          const life = new Life(replicas, type);
          for (const what of acts) {
            life.happen(what);
            const live = [...life.cluster.pods.values()].filter((one) => one.deletionAt === undefined);
            expect(live.length).toBeLessThanOrEqual(replicas + 1);
          }
          expect(life.cluster.fewestServing).toBeGreaterThanOrEqual(replicas - 1);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('end on the last good revision, whatever befell them, and then write nothing [B86] [B90]', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 }),
        strategy,
        fc.array(stormy, { minLength: 4, maxLength: 25 }),
        (replicas, type, acts) => {
          const life = new Life(replicas, type);
          for (const what of acts) life.happen(what);
          life.recover();
          const { cluster } = life;
          const rows = [...cluster.status.rows.values()];
          expect(rows.map((row) => [row.kind, row.running])).toEqual(
            rows.map(() => ['ready', cluster.revision('good')]),
          );
          expect([rows.length, cluster.pods.size, cluster.servingInstances()]).toEqual([replicas, replicas, replicas]);
          expect([...cluster.pods.values()].filter((one) => one.inPlace !== undefined)).toEqual([]);
          const { writes } = cluster;
          cluster.steps(5, 100);
          expect(cluster.writes).toBe(writes);
        },
      ),
      { numRuns: 30 },
    );
  });
});
