import { describe, expect, it } from '@jest/globals';
import { apart } from './testing/apart.js';

/** Seeds of one run of the suite; many more where somebody has the time. */
const seeds = process.env['OME_SOAK'] === '1' ? 5000 : 300;
const perTest = 25;

describe(`${seeds} random sequences of changes of mind, in any weather`, () => {
  const carryOut = apart();
  const batches = Array.from({ length: seeds / perTest }, (_, at) => at * perTest);

  it.each(batches)(
    'no rule is broken, and the end is that of the last spec alone, from seed %d on',
    async (from) => {
      expect((await carryOut({ kind: 'sequences', from, seeds: perTest })).told).toEqual([]);
    },
    900_000,
  );
});
