/** The other side of apart.ts: takes jobs one by one, and answers each with what came of it. */
import { parentPort } from 'node:worker_threads';
import { endure } from '../chaos.js';
import { foretell } from '../plan-check.js';
import { scenarioNamed, scenarios } from '../scenarios.js';
import { endureSequence } from '../sequences.js';
import { type Extent, sweep } from '../sweep.js';

/** Work for the thread: some seeds, or a scenario. */
export type Job =
  | { readonly kind: 'chaos' | 'sequences'; readonly from: number; readonly seeds: number }
  | { readonly kind: 'plans'; readonly from: number; readonly seeds: number; readonly changes: number }
  | { readonly kind: 'sweep'; readonly scenario: string; readonly extent: Extent };

export interface Report {
  /** How many runs there were. */
  readonly runs: number;
  /** What went wrong, each with the command that plays it again where there is one. */
  readonly told: readonly string[];
}

parentPort?.on('message', (job: Job) => {
  // A rejection that nobody handles ends the thread, and the job with its error.
  void carryOut(job).then((report) => parentPort?.postMessage(report));
});

function carryOut(job: Job): Promise<Report> {
  switch (job.kind) {
    case 'chaos':
      return each(job, async (seed) => {
        const scenario = scenarios[seed % scenarios.length];
        if (scenario === undefined) throw new Error('no scenarios');
        await replayable(`--scenario ${scenario.name} --seed ${seed}`, endure(scenario, seed));
      });
    case 'sequences':
      return each(job, (seed) => replayable(`--sequence --seed ${seed}`, endureSequence(seed)));
    case 'plans':
      return each(job, (seed) => foretell(seed, job.changes));
    case 'sweep':
      return swept(job.scenario, job.extent);
  }
}

async function each(
  { from, seeds }: { readonly from: number; readonly seeds: number },
  run: (seed: number) => Promise<void>,
): Promise<Report> {
  const told: string[] = [];
  for (let seed = from; seed < from + seeds; seed += 1) {
    try {
      await run(seed);
    } catch (error) {
      told.push(error instanceof Error ? error.message : String(error));
    }
  }
  return { runs: seeds, told };
}

async function swept(scenario: string, extent: Extent): Promise<Report> {
  const { points, failures } = await sweep(scenarioNamed(scenario), 1, extent);
  const told = failures.map(({ point: { step, write, when }, error }) => {
    return `${command(`--scenario ${scenario} --seed 1 --crash ${step}/${write}/${when}`)}\n${error.message}`;
  });
  return { runs: points, told };
}

async function replayable(options: string, run: Promise<void>): Promise<void> {
  try {
    await run;
  } catch (error) {
    throw new Error(`${command(options)}\n${String(error)}`, { cause: error });
  }
}

const command = (options: string): string => `node e2e/dist/sim/replay.js ${options}`;
