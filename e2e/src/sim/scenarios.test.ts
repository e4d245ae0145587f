import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { scenarios } from './scenarios.js';
import { newSimulation, play, playStep } from './story.js';

const minute = 60_000;

describe('the controllers against the simulated cluster', () => {
  it.each(scenarios.map((scenario) => [scenario.name, scenario.ids ?? '', scenario] as const))(
    'plays %s with no rule broken and no request lost %s',
    async (_name, _ids, scenario) => {
      const { outcomes } = await play(scenario, { seed: 1 });
      expect(outcomes).toHaveLength(scenario.steps.length);
    },
    minute,
  );

  it(
    'writes nothing for ten minutes once it has converged [B23] [E189]',
    async () => {
      for (const name of ['surge', 'create-gang']) {
        const scenario = scenarios.find((item) => item.name === name);
        if (scenario === undefined) throw new Error(`no scenario ${name}`);
        const simulation = newSimulation(scenario, { seed: 1, manager: { safetyPollMs: 30_000 } });
        simulation.startManager();
        for (const step of scenario.steps) await playStep(simulation, step);
        const before = simulation.writes.length;
        await simulation.run(10 * minute);
        expect(simulation.writes.slice(before).map((write) => `${write.type} ${write.resource}`)).toEqual([]);
      }
    },
    minute,
  );

  it(
    'writes nothing more for a workload that cannot start',
    async () => {
      const scenario = scenarios.find((item) => item.name === 'bad-create');
      if (scenario === undefined) throw new Error('no scenario bad-create');
      const simulation = newSimulation(scenario, { seed: 1, manager: { safetyPollMs: 30_000 } });
      simulation.startManager();
      await playStep(simulation, scenario.steps[0] as (typeof scenario.steps)[0]);
      // It is tried as often as the operator allows, and then held.
      await simulation.run(10 * minute);
      const before = simulation.writes.length;
      await simulation.run(10 * minute);
      expect(simulation.writes.slice(before).map((write) => `${write.type} ${write.resource}`)).toEqual([]);
    },
    minute,
  );

  it(
    'gives the same trace for the same seed, and another one for another',
    () => {
      const script = fileURLToPath(new URL('./replay.js', import.meta.url));
      const hash = (seed: string, node = process.execPath): string =>
        spawnSync(node, [script, '--hash', '--scenario', 'surge', '--seed', seed], {
          encoding: 'utf8',
          env: { PATH: process.env['PATH'] ?? '' },
        }).stdout.trim();
      const first = hash('7');
      expect(first).toMatch(/^[0-9a-f]+$/);
      expect(hash('7')).toBe(first);
      expect(hash('8')).not.toBe(first);
      const other = process.env['OME_OTHER_NODE'];
      if (other !== undefined) expect(hash('7', other)).toBe(first);
    },
    minute,
  );
});
