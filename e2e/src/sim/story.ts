/** Plays a scenario to its end, and says what was wrong with it. */
import { leftovers, outcomeOf } from './outcome.js';
import { moments } from './replica-view.js';
import { type Later, type Scenario, type Step, world } from './scenario.js';
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

/** Milliseconds that a moment is waited for; one that does not come leaves what was to follow it without a cue. */
const momentMs = 60_000;

/** How time passes between what a user does; returns early when `done` is so. */
type Pass = (ms: number, done?: () => boolean) => Promise<void>;

/** What a user does in a step, with `pass` between one thing and the next. */
export async function act(simulation: Simulation, step: Step, pass: Pass): Promise<void> {
  const { cluster, user } = simulation;
  cluster.note(step.name);
  step.act(user, cluster);
  for (const event of step.meanwhile ?? []) {
    await awaited(event);
    cluster.note(`meanwhile, in ${step.name}`);
    event.act(user, cluster);
  }

  function awaited(event: Later): Promise<void> {
    return 'afterMs' in event ? pass(event.afterMs) : pass(momentMs, () => moments[event.once](cluster));
  }
}

/** One step and what follows while it is under way, until nothing moves any more. */
export async function playStep(simulation: Simulation, step: Step): Promise<void> {
  await act(simulation, step, (ms, done) => simulation.run(ms, done));
  await simulation.settle(step.quietMs);
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
    outcomes.push(outcomeOf(simulation.cluster, step.ends));
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
  const wrong = scenario.steps[at]?.proves?.(cluster);
  if (wrong !== undefined) complain(wrong);
  if (probes.failed > 0) complain(`${probes.failed} of ${probes.sent} requests failed: ${probes.failures[0]}`);
  if (at < scenario.steps.length - 1 || scenario.ends !== 'empty') return;
  const left = leftovers(cluster);
  if (left.length > 0) complain(`left behind: ${left.join(', ')}`);
}
