/** Laws of a plan that are about time and about what may be asked at all, over random worlds. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Effect } from './effects.js';
import { plan } from './plan.js';
import type { Snapshot } from './snapshot.js';
import { arbitraryWorld } from './testing/arbitrary-world.js';
import { persisted } from './testing/read.js';
import { chartConfig } from './testing/world.js';

const runs = { numRuns: 400 };

function effectsOf(snapshot: Snapshot): readonly Effect[] {
  return plan(snapshot).chains.flatMap((chain) => chain.effects);
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  if (value instanceof Map || value instanceof Set) for (const item of value.values()) freeze(item);
  for (const item of Object.values(value)) freeze(item);
}

/** The same world at `now`. The API server is not asked about a template for ever: by then it has no objection. */
function later(world: Snapshot, now: number): Snapshot {
  const { templateCheck: _, ...rest } = world;
  return { ...rest, now };
}

describe('a plan over random worlds', () => {
  it('names no wake that has passed: such a one would hide those to come [B03]', () => {
    fc.assert(
      fc.property(arbitraryWorld, (snapshot) => {
        const { holds, wakeAt } = plan(snapshot);
        const times = holds.flatMap((hold) => hold.wake.flatMap((wake) => ('at' in wake ? [wake.at] : [])));
        for (const time of [...times, ...(wakeAt === undefined ? [] : [wakeAt])]) {
          expect(time).toBeGreaterThan(snapshot.now);
        }
        for (const time of times) expect(wakeAt).toBeLessThanOrEqual(time);
      }),
      runs,
    );
  });

  it('writes a bounded number of times while only time goes by, and in the end nothing, unless retries or deadlines are asked for [B101]', () => {
    fc.assert(
      fc.property(
        arbitraryWorld,
        fc.array(fc.integer({ min: 1, max: 4000 }), { minLength: 5, maxLength: 10 }),
        (random, jumps) => {
          const { updateRetry: _, ...config } = random.config;
          // Lost pods of what ran are asked for again each time an attempt's time is up.
          const { instanceReadyTimeoutSec: __, ...spec } = random.spec;
          const start: Snapshot = { ...random, config, spec };
          let world = start;
          let writes = 0;
          for (const jump of [...jumps, 10_000, 10_000, 10_000]) {
            for (let pass = 0; pass < 4; pass++) {
              if (plan(world).status !== undefined) writes += 1;
              world = persisted(world);
            }
            world = later(world, world.now + jump);
          }
          expect(plan(world).status).toBeUndefined();
          expect(writes).toBeLessThan(8 + 4 * (start.status.rows.size + start.pods.size));
        },
      ),
      { numRuns: 100 },
    );
  });

  it('retries for ever what time may cure, but ever more rarely: in the end a few writes in each longest pause [B101]', () => {
    fc.assert(
      fc.property(arbitraryWorld, (start) => {
        const maxDelaySec = chartConfig.updateRetry?.maxDelaySec ?? 0;
        const writes: number[] = [];
        let world: Snapshot = { ...start, config: chartConfig };
        const end = start.now + 30 * maxDelaySec;
        for (let wake: number | undefined = world.now; wake !== undefined && wake < end; wake = plan(world).wakeAt) {
          world = wake === start.now ? world : later(world, wake);
          for (let pass = 0; plan(world).status !== undefined; pass++) {
            expect(pass).toBeLessThan(8);
            writes.push(world.now);
            world = persisted(world);
          }
        }
        const late = writes.filter((at) => at >= end - 10 * maxDelaySec);
        expect(late.length).toBeLessThanOrEqual(10 * 8);
      }),
      { numRuns: 100 },
    );
  });

  it('decides nothing before the time it named, unless the world changes [B03]', () => {
    fc.assert(
      fc.property(arbitraryWorld, fc.nat({ max: 5000 }), (start, ahead) => {
        const settled = persisted(persisted(persisted(start)));
        const { wakeAt } = plan(settled);
        const now = Math.min(settled.now + ahead, wakeAt === undefined ? Number.POSITIVE_INFINITY : wakeAt - 1);
        expect(plan({ ...settled, now }).status).toBeUndefined();
      }),
      runs,
    );
  });

  it('changes nothing of its snapshot', () => {
    fc.assert(
      fc.property(arbitraryWorld, (snapshot) => {
        const before = structuredClone(snapshot);
        freeze(snapshot);
        plan(snapshot);
        expect(snapshot).toEqual(before);
      }),
      { numRuns: 100 },
    );
  });

  it('asks for a pod only where its name is free, and once', () => {
    fc.assert(
      fc.property(arbitraryWorld, (snapshot) => {
        const taken = new Set([...snapshot.pods.values()].flat().map((pod) => pod.name));
        const created = effectsOf(snapshot).flatMap((effect) => (effect.do === 'createPod' ? [effect.name] : []));
        for (const name of created) expect(taken.has(name)).toBe(false);
        expect(new Set(created).size).toBe(created.length);
      }),
      runs,
    );
  });

  it('asks nothing of a pod that goes already, and gives each wish its own key', () => {
    fc.assert(
      fc.property(arbitraryWorld, (snapshot) => {
        const going = new Set(
          [...snapshot.pods.values()].flat().flatMap((pod) => (pod.deletionAt === undefined ? [] : [pod.uid])),
        );
        const effects = effectsOf(snapshot);
        for (const effect of effects) {
          if (effect.do === 'deletePod' || effect.do === 'gate') expect(going.has(effect.pod.uid)).toBe(false);
        }
        expect(new Set(effects.map((effect) => effect.key)).size).toBe(effects.length);
      }),
      runs,
    );
  });

  it('makes nothing for a replica that goes [B91]', () => {
    fc.assert(
      fc.property(arbitraryWorld, fc.boolean(), (snapshot, hasLimit) => {
        const config = { ...snapshot.config, ...(hasLimit ? { scaleDownPodBatch: 1 } : {}) };
        const replica = { ...snapshot.replica, deletingSince: snapshot.now - 1 };
        const made = plan({ ...snapshot, config, replica });
        expect(made.prepare).toEqual([]);
        for (const effect of made.chains.flatMap((chain) => chain.effects)) {
          expect(['createPod', 'ensureHeadless', 'createRevision']).not.toContain(effect.do);
        }
      }),
      runs,
    );
  });

  it('moves no row of an Instance that the watch lags on [B28]', () => {
    fc.assert(
      fc.property(arbitraryWorld, (snapshot) => {
        const after = persisted(snapshot).status.rows;
        for (const index of snapshot.blind) {
          const row = snapshot.status.rows.get(index);
          if (row === undefined) expect(after.get(index)).toBeUndefined();
          else expect(after.get(index)).toEqual({ ...row, published: expect.anything() });
        }
      }),
      runs,
    );
  });
});
