// What every benchmark on a cluster can be told on its command line.
import { parseArgs } from 'node:util';

/**
 * @typedef {object} Options
 * @property {number} gangs Instances of a leader and a worker
 * @property {number} rounds how often the whole is done
 * @property {number} batch `lifecycle.scaleUpPodBatchSize` and `lifecycle.scaleDownPodBatchSize`, in pods
 * @property {boolean} profile whether the manager writes a profile of its processor's time
 * @property {boolean} keep whether the cluster stays up
 */

const usage = `options:
  --gangs N     Instances of a leader and a worker (500)
  --rounds N    how often the whole is done (3)
  --batch N     pods that are created, or deleted, in one wave (100, the default of an installation)
  --profile     write a profile of the manager's processor time to .cache/bench
  --keep        leave the cluster up
`;

/** @returns {Options} */
export function readOptions() {
  const { values } = parseArgs({
    options: {
      gangs: { type: 'string', default: '500' },
      rounds: { type: 'string', default: '3' },
      batch: { type: 'string', default: '100' },
      profile: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    process.exit(0);
  }
  const { profile, keep } = values;
  return {
    gangs: count(values, 'gangs'),
    rounds: count(values, 'rounds'),
    batch: count(values, 'batch'),
    profile,
    keep,
  };
}

function count(values, name) {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number > 0) return number;
  console.error(`--${name} ${values[name]}: write a whole number above 0.\n\n${usage}`);
  return process.exit(1);
}
