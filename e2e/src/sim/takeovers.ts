/** What may go wrong when one manager follows another, as runs that throw. */
import { scenarioNamed } from './scenarios.js';
import type { Simulation } from './simulation.js';
import { Failure, newSimulation, playStep } from './story.js';

export interface Takeover {
  readonly name: string;
  /** @throws Failure */
  run(): Promise<void>;
}

const minute = 60_000;
/** Milliseconds by which the heir sees everything late. */
const lagMs = 10_000;

function must(simulation: Simulation, isTrue: boolean, what: string): void {
  if (!isTrue) throw new Failure(`${what}\n${simulation.tail(80)}`);
}

function firstStep(name: string) {
  const step = scenarioNamed(name).steps[0];
  if (step === undefined) throw new Error(`scenario ${name} has no step`);
  return step;
}

function mustBeSound(simulation: Simulation): void {
  const first = simulation.invariants.violations[0];
  must(simulation, first === undefined, first?.message ?? '');
}

const lateHeir: Takeover = {
  name: 'the heir sees the pods ten seconds late, and deletes none',
  async run() {
    const simulation = newSimulation(scenarioNamed('surge'), { seed: 3, manager: { election: 'lease' } });
    const first = simulation.startManager();
    await playStep(simulation, firstStep('surge'));
    const pods = (): string =>
      simulation.cluster
        .objects('pods')
        .map((pod) => pod.metadata.uid)
        .join();
    const before = pods();
    first.kill();
    const heir = simulation.startManager({ faults: { watchLagMs: [lagMs, lagMs] } });
    await simulation.until('the heir leads', () => heir.isLeader);
    await simulation.run(2 * minute);
    must(simulation, pods() === before, 'pods were deleted or made in a takeover');
    mustBeSound(simulation);
  },
};

const inMidCreate: Takeover = {
  name: 'the heir sees none of the pods that were just made, and doubles none',
  async run() {
    for (const afterMs of [60, 120, 250, 500, 1000, 2000]) {
      const simulation = newSimulation(scenarioNamed('create'), { seed: 5, manager: { election: 'lease' } });
      const first = simulation.startManager();
      await simulation.until('the first leads', () => first.isLeader);
      firstStep('create').act(simulation.user, simulation.cluster);
      await simulation.run(afterMs);
      first.kill();
      simulation.startManager({ faults: { watchLagMs: [lagMs, lagMs] } });
      await simulation.settle();
      const made = simulation.writes.filter((write) => write.resource === 'pods' && write.type === 'ADDED').length;
      must(simulation, made === 2, `${made} pods were made for two Instances`);
      mustBeSound(simulation);
    }
  },
};

const lostRenewal: Takeover = {
  name: 'a leader that cannot renew stops its writes before the next one begins',
  async run() {
    const simulation = newSimulation(scenarioNamed('scale-up'), { seed: 9, manager: { election: 'lease' } });
    const first = simulation.startManager({ onLost: 'goes on' });
    await playStep(simulation, firstStep('scale-up'));
    const heir = simulation.startManager();
    // Its renewals are never answered from here on, and it is too busy to end itself.
    simulation.cluster.hooks.onRequest = (request, _n, client) =>
      client === first.name && request.path.includes('/leases/') ? { is: 'never' } : undefined;
    await simulation.until('the heir leads', () => heir.isLeader);
    const atTakeover = simulation.writes.length;
    simulation.user.scale(3);
    await simulation.settle();
    const late = simulation.writes.slice(atTakeover).filter((write) => write.by === first.name);
    must(simulation, late.length === 0, `${late.length} writes of the old leader after the takeover`);
    must(simulation, simulation.cluster.objects('pods').length === 3, 'the heir did not scale');
    mustBeSound(simulation);
  },
};

export const takeovers: readonly Takeover[] = [lateHeir, inMidCreate, lostRenewal];
