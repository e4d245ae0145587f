import { describe, expect, it } from '@jest/globals';
import { scenarios } from './scenarios.js';
import { sweep } from './sweep.js';

/** Scenarios whose every write is a crash point. */
const swept = [
  'create',
  'create-gang',
  'scale-up',
  'scale-down',
  'surge',
  'retarget',
  'regret',
  'bad-image',
  'pause',
  'lost-pod',
  'delete',
  'delete-gang',
  'delete-in-surge',
  'standalone',
];

describe('the crash sweep: killed before each write, and after each before its reply', () => {
  it.each(swept)(
    '%s ends where it does without a crash [B33] [B36] [E206]',
    async (name) => {
      const scenario = scenarios.find((item) => item.name === name);
      if (scenario === undefined) throw new Error(`no scenario ${name}`);
      const { points, failures } = await sweep(scenario, 1);
      const told = failures.map(
        ({ point, error }) =>
          `node e2e/dist/sim/replay.js --scenario ${name} --seed 1 --crash ${point.step}/${point.write}/${point.when}\n${error.message}`,
      );
      expect(told.slice(0, 3)).toEqual([]);
      expect(points).toBeGreaterThan(40);
    },
    600_000,
  );
});
