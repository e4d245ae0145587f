import { describe, expect, it } from '@jest/globals';
import { foretell } from './plan-check.js';

/** Changes of one run of the suite; more where somebody has the time. */
const changes = process.env['OME_SOAK'] === '1' ? 3000 : 300;
const perSeed = 10;
const perTest = 5;

describe(`${changes} random changes, planned and then made`, () => {
  const batches = Array.from({ length: changes / perSeed / perTest }, (_, at) => at * perTest);

  it.each(batches)(
    'the controllers do what the plan says, by the same means and in the same waves, from seed %d on',
    async (from) => {
      const told: string[] = [];
      for (let seed = from; seed < from + perTest; seed += 1) {
        try {
          await foretell(seed, perSeed);
        } catch (error) {
          told.push(error instanceof Error ? error.message : String(error));
        }
      }
      expect(told).toEqual([]);
    },
    600_000,
  );
});
