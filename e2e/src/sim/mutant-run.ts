/**
 * Runs one mutant through its trials, in a process of its own: `node mutant-run.js <number>`. Exit code 0: it was caught,
 * and the last line says by what. 1: it lived. 2: it could not be tried.
 */
import { register } from 'node:module';
import { mutants, type Trial } from './mutants.js';

const mutant = mutants[Number(process.argv[2])];
if (mutant === undefined) {
  process.stderr.write(`mutant-run: a number from 0 to ${mutants.length - 1}\n`);
  process.exit(2);
}
register('./mutant-hooks.js', { parentURL: import.meta.url, data: mutant });

const { endure } = await import('./chaos.js');
const { sweep } = await import('./sweep.js');
const { scenarioNamed } = await import('./scenarios.js');
const { takeovers } = await import('./takeovers.js');

for (const trial of mutant.trials) {
  const caught = await tried(trial);
  if (caught !== undefined) {
    process.stdout.write(`${caught.replaceAll('\n', ' | ').slice(0, 400)}\n`);
    process.exit(0);
  }
}
process.exit(1);

async function tried(trial: Trial): Promise<string | undefined> {
  switch (trial.kind) {
    case 'chaos':
      for (let seed = 0; seed < trial.seeds; seed += 1) {
        try {
          await endure(scenarioNamed(trial.scenario), seed);
        } catch (error) {
          return `${trial.scenario}, seed ${seed} of ${trial.seeds}: ${reasonOf(error)}`;
        }
      }
      return undefined;
    case 'sweep': {
      const { failures } = await sweep(scenarioNamed(trial.scenario), 1, 'all steps').catch((error: unknown) => ({
        failures: [{ error: error instanceof Error ? error : new Error(String(error)) }],
      }));
      return failures[0] === undefined ? undefined : `sweep of ${trial.scenario}: ${reasonOf(failures[0].error)}`;
    }
    case 'takeover':
      for (const takeover of takeovers) {
        try {
          await takeover.run();
        } catch (error) {
          return `${takeover.name}: ${reasonOf(error)}`;
        }
      }
      return undefined;
  }
}

/** What went wrong, without the weather and the trace around it. */
function reasonOf(error: unknown): string {
  const lines = (error instanceof Error ? error.message : String(error)).split('\n');
  return lines.filter((line) => !line.startsWith('seed ') && !line.startsWith('  +')).join('\n');
}
