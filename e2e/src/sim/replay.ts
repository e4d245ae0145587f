/**
 * Replays one simulated run and prints what happened, for people:
 *
 *     node e2e/dist/sim/replay.js --scenario surge --seed 4711
 *     node e2e/dist/sim/replay.js --scenario surge --seed 1 --crash 1/14/after
 *     node e2e/dist/sim/replay.js --sequence --seed 42
 *
 * Exit code 0 when the run was fine, 1 when it was not.
 */
import { parseArgs } from 'node:util';
import { endure } from './chaos.js';
import { scenarioNamed } from './scenarios.js';
import { endureSequence } from './sequences.js';
import { newSimulation, play, playStep } from './story.js';
import { type CrashPoint, crashAt } from './sweep.js';

const { values } = parseArgs({
  options: {
    scenario: { type: 'string', default: 'surge' },
    seed: { type: 'string', default: '1' },
    /** A sequence of random changes instead of a scenario. */
    sequence: { type: 'boolean', default: false },
    /** step/write/before|after */
    crash: { type: 'string' },
    /** Only the hash of an undisturbed run: equal for equal seeds, on any machine. */
    hash: { type: 'boolean', default: false },
  },
});

const scenario = scenarioNamed(values.scenario);
const seed = Number(values.seed);

if (values.hash) {
  process.stdout.write(`${await hashOf()}\n`);
  process.exit(0);
}

try {
  if (values.sequence) await endureSequence(seed);
  else if (values.crash === undefined) await endure(scenario, seed);
  else await replayCrash(pointOf(values.crash));
  process.stdout.write(`${values.sequence ? 'sequence' : scenario.name}, seed ${seed}: fine\n`);
  process.exit(0);
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

async function replayCrash(point: CrashPoint): Promise<void> {
  const { outcomes } = await play(scenario, { seed });
  await crashAt(scenario, seed, point, outcomes[point.step] ?? '');
}

function pointOf(text: string): CrashPoint {
  const [step, write, when] = text.split('/');
  if (when !== 'before' && when !== 'after') throw new Error(`--crash ${text}: write it as step/write/before or after`);
  return { step: Number(step), write: Number(write), when };
}

async function hashOf(): Promise<string> {
  const simulation = newSimulation(scenario, { seed });
  simulation.startManager();
  for (const step of scenario.steps) await playStep(simulation, step);
  return simulation.cluster.traceHash;
}
