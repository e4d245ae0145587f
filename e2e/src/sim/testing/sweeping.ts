/** The crash sweep as tests: one for each scenario, in files of their own so that they run side by side. */
import { describe, expect, it } from '@jest/globals';
import { scenarioNamed } from '../scenarios.js';
import { type Extent, sweep } from '../sweep.js';

/** Sweeps these scenarios. */
export function sweeping(names: readonly string[], extent: Extent): void {
  describe('the crash sweep: killed before each write, and after each before its reply', () => {
    it.each(names)(
      '%s ends where it does without a crash [B33] [B36] [E206]',
      async (name) => {
        const { points, failures } = await sweep(scenarioNamed(name), 1, extent);
        const told = failures.map(
          ({ point, error }) =>
            `node e2e/dist/sim/replay.js --scenario ${name} --seed 1 --crash ${point.step}/${point.write}/${point.when}\n${error.message}`,
        );
        expect(told.slice(0, 3)).toEqual([]);
        expect(points).toBeGreaterThan(30);
      },
      900_000,
    );
  });
}
