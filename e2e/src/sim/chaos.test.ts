import { describe, expect, it } from '@jest/globals';
import { endure } from './chaos.js';
import { scenarios } from './scenarios.js';

/** Seeds of one run of the suite; many more where somebody has the time. */
const seeds = process.env['OME_SOAK'] === '1' ? 2000 : 200;
const perTest = 20;

describe(`${seeds} random schedules: lag, lost and late writes, throttling, relists, crashes, two managers`, () => {
  const batches = Array.from({ length: seeds / perTest }, (_, at) => at * perTest);

  it.each(batches)(
    'no rule is broken, no request is lost, and the end is the same, from seed %d on',
    async (from) => {
      const told: string[] = [];
      for (let seed = from; seed < from + perTest; seed += 1) {
        const scenario = scenarios[seed % scenarios.length];
        if (scenario === undefined) throw new Error('no scenarios');
        try {
          await endure(scenario, seed);
        } catch (error) {
          told.push(`node e2e/dist/sim/replay.js --scenario ${scenario.name} --seed ${seed}\n${String(error)}`);
        }
      }
      expect(told).toEqual([]);
    },
    600_000,
  );
});
