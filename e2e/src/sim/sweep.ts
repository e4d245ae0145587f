/**
 * The exhaustive crash sweep: the manager is killed before each of its writes, and after each is applied but before the
 * reply. Another one takes over, and the step must end where the undisturbed one ended.
 */
import { outcomeOf } from './outcome.js';
import type { Scenario } from './scenario.js';
import type { Simulation } from './simulation.js';
import { Failure, judge, newSimulation, playStep } from './story.js';

export interface CrashPoint {
  /** Which step of the scenario. */
  readonly step: number;
  /** Which write of the manager in that step, from 1. */
  readonly write: number;
  readonly when: 'before' | 'after';
}

export interface SweepReport {
  readonly points: number;
  readonly failures: readonly { readonly point: CrashPoint; readonly error: Failure }[];
}

/** Milliseconds until the next manager is there. */
const restartMs = 700;

/** Counts the writes of each step in a run without a crash. */
async function undisturbed(scenario: Scenario, seed: number): Promise<{ outcomes: string[]; writes: number[] }> {
  const simulation = newSimulation(scenario, { seed });
  const manager = simulation.startManager();
  const outcomes: string[] = [];
  const writes: number[] = [];
  for (const [at, step] of scenario.steps.entries()) {
    const before = manager.sim.writes;
    await playStep(simulation, step);
    outcomes.push(outcomeOf(simulation.cluster, step.ends));
    writes.push(manager.sim.writes - before);
    judge(simulation, scenario, at);
    if (at === 0 && scenario.traffic !== undefined) simulation.startTraffic();
  }
  return { outcomes, writes };
}

/** Plays up to the crash point's step, crashes there, and plays that step to its end. @throws Failure */
export async function crashAt(scenario: Scenario, seed: number, point: CrashPoint, expected: string): Promise<void> {
  const simulation = newSimulation(scenario, { seed });
  let manager = simulation.startManager();
  for (const [at, step] of scenario.steps.slice(0, point.step + 1).entries()) {
    if (at === point.step)
      arm(simulation, manager.sim.writes + point.write, point.when, () => {
        manager.kill();
        setTimerIn(simulation, restartMs, () => {
          manager = simulation.startManager();
        });
      });
    await playStep(simulation, step);
    judge(simulation, scenario, at);
    if (at === 0 && scenario.traffic !== undefined) simulation.startTraffic();
  }
  const { ends } = scenario.steps[point.step] ?? {};
  const ended = outcomeOf(simulation.cluster, ends);
  if (ends !== 'by timing' && ended !== expected) {
    throw new Failure(`ended elsewhere than without a crash:\n${difference(expected, ended)}\n${simulation.tail(120)}`);
  }
}

/** Which steps of a scenario are swept; those before the last one may be the same as in other scenarios. */
export type Extent = 'all steps' | 'last step';

/** All crash points of these steps. */
export async function sweep(scenario: Scenario, seed: number, extent: Extent): Promise<SweepReport> {
  const { outcomes, writes } = await undisturbed(scenario, seed);
  const failures: { point: CrashPoint; error: Failure }[] = [];
  let points = 0;
  for (const [step, count] of writes.entries()) {
    if (extent === 'last step' && step < writes.length - 1) continue;
    for (let write = 1; write <= count; write += 1) {
      for (const when of ['before', 'after'] as const) {
        points += 1;
        const point: CrashPoint = { step, write, when };
        try {
          await crashAt(scenario, seed, point, outcomes[step] ?? '');
        } catch (error) {
          failures.push({ point, error: error instanceof Failure ? error : new Failure(String(error)) });
        }
      }
    }
  }
  return { points, failures };
}

function arm(simulation: Simulation, write: number, when: CrashPoint['when'], crash: () => void): void {
  const { hooks } = simulation.cluster;
  const isHere = (attempt: { readonly client: string; readonly n: number }): boolean =>
    attempt.client === 'manager-1' && attempt.n === write;
  if (when === 'before') {
    hooks.beforeWrite = (attempt) => {
      if (!isHere(attempt)) return 'apply';
      crash();
      return 'drop';
    };
  } else {
    hooks.afterWrite = (attempt) => {
      if (!isHere(attempt)) return 'answer';
      crash();
      return 'drop';
    };
  }
}

/** A timer of nobody's: it outlives the process that was killed. */
function setTimerIn(simulation: Simulation, delayMs: number, fire: () => void): void {
  const watcher = simulation.cluster.client('watcher');
  watcher.runtime().setTimer(delayMs, fire);
}

/** Lines that only one of the two has. */
export function difference(expected: string, ended: string): string {
  const was = new Set(expected.split('\n'));
  const is = new Set(ended.split('\n'));
  return [
    ...[...was].filter((line) => !is.has(line)).map((line) => `  - ${line}`),
    ...[...is].filter((line) => !was.has(line)).map((line) => `  + ${line}`),
  ].join('\n');
}
