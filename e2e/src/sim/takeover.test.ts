import { describe, expect, it } from '@jest/globals';
import { scenarioNamed } from './scenarios.js';
import { newSimulation, playStep } from './story.js';

const minute = 60_000;

describe('a takeover', () => {
  it(
    'deletes no pod while the new leader sees the pods ten seconds late [B28] [B42]',
    async () => {
      const scenario = scenarioNamed('surge');
      const simulation = newSimulation(scenario, { seed: 3, manager: { election: 'lease' } });
      const first = simulation.startManager();
      await playStep(simulation, scenario.steps[0] as (typeof scenario.steps)[0]);
      const before = simulation.cluster.objects('pods').map((pod) => pod.metadata.uid);
      first.kill();
      const heir = simulation.startManager({ faults: { watchLagMs: [10_000, 10_000] } });
      await simulation.until('the heir leads', () => heir.isLeader);
      await simulation.run(2 * minute);
      expect(simulation.cluster.objects('pods').map((pod) => pod.metadata.uid)).toEqual(before);
      expect(simulation.invariants.violations).toEqual([]);
    },
    minute,
  );

  it(
    'in the middle of a create doubles no pod, though the heir sees none of those that were just made [B28] [E211]',
    async () => {
      const scenario = scenarioNamed('create');
      for (const afterMs of [60, 120, 250, 500, 1000, 2000]) {
        const simulation = newSimulation(scenario, { seed: 5, manager: { election: 'lease' } });
        const first = simulation.startManager();
        await simulation.until('the first leads', () => first.isLeader);
        scenario.steps[0]?.act(simulation.user);
        await simulation.run(afterMs);
        first.kill();
        simulation.startManager({ faults: { watchLagMs: [10_000, 10_000] } });
        await simulation.settle();
        expect(simulation.cluster.objects('pods')).toHaveLength(2);
        expect(simulation.invariants.violations).toEqual([]);
      }
    },
    minute,
  );

  it(
    'of a leader that can no longer renew stops its writes before the next one begins [B40]',
    async () => {
      const scenario = scenarioNamed('scale-up');
      const simulation = newSimulation(scenario, { seed: 9, manager: { election: 'lease' } });
      const first = simulation.startManager();
      await playStep(simulation, scenario.steps[0] as (typeof scenario.steps)[0]);
      const heir = simulation.startManager();
      // The first one's renewals are refused; everything else of it goes on.
      simulation.cluster.hooks.onRequest = (request, _n, client) =>
        client === first.name && request.path.includes('/leases/') ? { is: 'notApplied' } : undefined;
      simulation.user.scale(3);
      await simulation.until('the heir leads', () => heir.isLeader);
      const atTakeover = simulation.writes.length;
      await simulation.settle();
      const late = simulation.writes.slice(atTakeover).filter((write) => write.by === first.name);
      expect(late.map((write) => `${write.type} ${write.resource}`)).toEqual([]);
      expect(simulation.cluster.objects('pods')).toHaveLength(3);
    },
    minute,
  );
});
