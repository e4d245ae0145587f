import { describe, expect, it } from '@jest/globals';
import { apart } from './testing/apart.js';

/** Changes of one run of the suite; more where somebody has the time. */
const total = process.env['OME_SOAK'] === '1' ? 3000 : 300;
const changes = 10;
const perTest = 5;

describe(`${total} random changes, planned and then made`, () => {
  const carryOut = apart();
  const batches = Array.from({ length: total / changes / perTest }, (_, at) => at * perTest);

  it.each(batches)(
    'the controllers do what the plan says, by the same means and in the same waves, from seed %d on',
    async (from) => {
      expect((await carryOut({ kind: 'plans', from, seeds: perTest, changes })).told).toEqual([]);
    },
    600_000,
  );
});
