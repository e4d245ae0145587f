/** The crash sweep as tests: one for each scenario, in files of their own so that they run side by side. */
import { describe, expect, it } from '@jest/globals';
import type { Extent } from '../sweep.js';
import { apart } from './apart.js';

/** Sweeps these scenarios. */
export function sweeping(names: readonly string[], extent: Extent): void {
  describe('the crash sweep: killed before each write, and after each before its reply', () => {
    const carryOut = apart();

    it.each(names)(
      '%s ends where it does without a crash [B33] [B36] [E206]',
      async (scenario) => {
        const { runs, told } = await carryOut({ kind: 'sweep', scenario, extent });
        expect(told.slice(0, 3)).toEqual([]);
        expect(runs).toBeGreaterThan(30);
      },
      900_000,
    );
  });
}
