import { describe, expect, it } from '@jest/globals';
import { apart } from './testing/apart.js';

/** Seeds of one run of the suite; many more where somebody has the time. */
const seeds = process.env['OME_SOAK'] === '1' ? 2000 : 200;
const perTest = 20;

describe(`${seeds} random schedules: lag, lost and late writes, throttling, relists, crashes, two managers`, () => {
  const carryOut = apart();
  const batches = Array.from({ length: seeds / perTest }, (_, at) => at * perTest);

  it.each(batches)(
    'no rule is broken, no request is lost, and the end is the same, from seed %d on',
    async (from) => {
      expect((await carryOut({ kind: 'chaos', from, seeds: perTest })).told).toEqual([]);
    },
    600_000,
  );
});
