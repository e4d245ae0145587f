/** Plays a scenario to its end, and says what was wrong with it. */
import { leftovers, outcomeOf } from './outcome.js';
import { type Scenario, type Step, world } from './scenarios.js';
import { Simulation, type SimulationOptions } from './simulation.js';

/** Something a run must not do. The message carries the end of the trace. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

export function newSimulation(scenario: Scenario, options: SimulationOptions): Simulation {
  const simulation = new Simulation({
    ...options,
    world: { ...world, ...scenario.world, ...options.world },
    ...(scenario.traffic === undefined ? {} : { traffic: [scenario.traffic] }),
  });
  for (const [name, cap] of Object.entries(scenario.caps)) simulation.invariants.podCap.set(name, cap);
  simulation.invariants.isPodChaos = scenario.podChaos === true;
  return simulation;
}

/** One step and what follows while it is under way, until nothing moves any more. */
export async function playStep(simulation: Simulation, step: Step): Promise<void> {
  simulation.cluster.note(step.name);
  step.act(simulation.user);
  for (const event of step.meanwhile ?? []) {
    await simulation.run(event.afterMs);
    simulation.cluster.note(`meanwhile, in ${step.name}`);
    event.act(simulation.user);
  }
  await simulation.settle();
}

/** Where each step ended. */
export interface Played {
  readonly outcomes: readonly string[];
  readonly writes: number;
}

/** Plays all steps under whatever faults the options bring. @throws Failure */
export async function play(scenario: Scenario, options: SimulationOptions): Promise<Played> {
  const simulation = newSimulation(scenario, options);
  simulation.startManager();
  const outcomes: string[] = [];
  for (const [at, step] of scenario.steps.entries()) {
    await playStep(simulation, step);
    outcomes.push(outcomeOf(simulation.cluster));
    judge(simulation, scenario, at);
    if (at === 0 && scenario.traffic !== undefined) simulation.startTraffic();
  }
  return { outcomes, writes: simulation.writes.length };
}

/** What must hold after the step `at`, whatever happened before. @throws Failure */
export function judge(simulation: Simulation, scenario: Scenario, at: number): void {
  const { invariants, probes, cluster } = simulation;
  const first = invariants.violations[0];
  const complain = (what: string): never => {
    throw new Failure(`${scenario.name}, after "${scenario.steps[at]?.name}": ${what}\n${simulation.tail(120)}`);
  };
  if (first !== undefined) complain(first.message);
  if (probes.failed > 0) complain(`${probes.failed} of ${probes.sent} requests failed: ${probes.failures[0]}`);
  if (at < scenario.steps.length - 1 || scenario.ends !== 'empty') return;
  const left = leftovers(cluster);
  if (left.length > 0) complain(`left behind: ${left.join(', ')}`);
}
