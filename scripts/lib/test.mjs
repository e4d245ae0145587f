/**
 * The test run: builds, runs the suites that were asked for, takes down every cluster it brought up however it ends, and
 * says on its last line what came of all of it. See scripts/test for the usage.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, cpSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execute } from './execute.mjs';
import { build, stagesOf, suites, usual } from './suites.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const cluster = path.join(root, 'scripts/cluster');
const wholeRunMs = 76 * 60_000;
const clusterUpMs = 35 * 60_000; // The first time, it builds Kubernetes.
const clusterDownMs = 2 * 60_000;
/** What `scripts/cluster` exits with when the machine cannot run it. */
const unsupported = 3;
const inCi = process.env['CI'] === 'true';

const begunMs = performance.now();
const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => interruption.abort(name));
const deadline = begunMs + wholeRunMs;
const scratch = mkdtempSync(path.join(tmpdir(), 'ome-test-'));

// A cluster of our own, apart from the one that a person may have up.
const env = {
  ...process.env,
  OME_CLUSTER_DIR: process.env['OME_CLUSTER_DIR'] ?? '/tmp/ome-native-test-cluster',
  OME_CLUSTER_PORT: process.env['OME_CLUSTER_PORT'] ?? '16443',
};

/**
 * @typedef {object} Result
 * @property {string} name
 * @property {number} passed
 * @property {number} failed
 * @property {number} seconds
 * @property {string} [note] why it is not as it should be
 */

/** @type {Result[]} */
const results = [];

async function main(names) {
  const wrong = names.filter((name) => !Object.hasOwn(suites, name));
  if (wrong.length > 0) {
    results.push(failure(wrong.join(', '), `there is no such suite; there are ${Object.keys(suites).join(', ')}`));
    return;
  }
  const built = await runStep('', build);
  if (built.failed > 0) return;
  for (const { first, beside = [] } of names.length > 0 ? stagesOf(names) : usual) {
    const lanes = await Promise.allSettled([runLane(first, 'first'), runLane(beside, 'beside')]);
    for (const ended of lanes) if (ended.status === 'rejected') throw ended.reason;
  }
}

/** @typedef {'first' | 'beside'} Place what runs beside takes the time that the first lane leaves, and speaks at its end */

async function runLane(lane, place) {
  for (const [name, suite] of lane) {
    if (interruption.signal.aborted) return;
    await runSuite(name, suite, place);
  }
}

async function runSuite(name, suite, place) {
  if (suite.cluster === undefined) {
    for (const step of suite.steps) await runStep(name, step, place);
    return;
  }
  await takeDown(name); // A run that was killed may have left one, with its objects in it.
  try {
    if (!(await bringUp(name, suite.cluster))) return;
    for (const step of suite.steps) {
      const result = await runStep(name, { ...step, env: { ...step.env, OME_E2E_KUBECONFIG: kubeconfig() } });
      if (result.failed > 0) keepLogs(result.name);
    }
  } finally {
    await takeDown(name);
  }
}

async function bringUp(name, shape) {
  const what = `${name}: cluster up ${shape.join(' ')}`;
  const { code, seconds, note } = await timed(what, [cluster, 'up', ...shape], env, clusterUpMs);
  if (code === 0) return true;
  const isSkipped = code === unsupported && !inCi;
  const reason = isSkipped
    ? 'skipped: this machine cannot run it (see above)'
    : 'the cluster did not come up (see above)';
  results.push({ name: what, passed: 0, failed: isSkipped ? 0 : 1, seconds, note: note ?? reason });
  return false;
}

/** Runs even after an interruption: that is the moment when something would be left. */
async function takeDown(name) {
  const never = new AbortController().signal;
  const { code } = await execute([cluster, 'down'], { env, limitMs: clusterDownMs, signal: never });
  if (code !== 0) results.push(failure(`${name}: cluster down`, 'something is left of the cluster (see above)'));
}

function kubeconfig() {
  return spawnSync(cluster, ['kubeconfig'], { env, encoding: 'utf8' }).stdout.trim();
}

function keepLogs(name) {
  const logs = path.join(env['OME_CLUSTER_DIR'], 'log');
  const kept = path.join(root, '.cache/cluster-logs', name.replaceAll(/\W+/g, '-'));
  if (!existsSync(logs)) return;
  cpSync(logs, kept, { recursive: true });
  console.log(`The cluster's logs are in ${kept}.`);
}

/** @returns {Promise<Result>} */
async function runStep(suite, step, place = 'first') {
  const name = suite === '' ? step.name : `${suite}: ${step.name}`;
  const countsFile = path.join(scratch, `counts-${place}.json`);
  rmSync(countsFile, { force: true });
  const stepEnv = { ...env, ...step.env, OME_TEST_COUNTS: countsFile };
  const { code, seconds, note } = await timed(name, step.command, stepEnv, step.limitMs, place);
  const result = {
    name,
    seconds,
    ...(step.counts === 'jest' ? countOf(countsFile, code, note) : outcomeOf(code, note)),
  };
  results.push(result);
  return result;
}

const outcomeOf = (code, note) =>
  code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1, note: note ?? `exit code ${code}` };

/** What jest counted; a run that counted nothing, or failed without counting why, is one more failure. */
function countOf(file, code, note) {
  if (!existsSync(file)) return { passed: 0, failed: 1, note: note ?? 'jest ended before it had counted' };
  const { passed, failed, skipped } = JSON.parse(readFileSync(file, 'utf8'));
  if (passed + failed === 0) return { passed, failed: 1, note: 'not one test ran' };
  if (code !== 0 && failed === 0) return { passed, failed: 1, note: note ?? `jest ended with exit code ${code}` };
  if (inCi && skipped > 0)
    return { passed, failed: failed + skipped, note: `${skipped} skipped, which CI does not accept` };
  return { passed, failed, ...(skipped > 0 ? { note: `${skipped} skipped` } : {}) };
}

async function timed(name, command, commandEnv, limitMs, place = 'first') {
  const begin = performance.now();
  // Time is kept back for taking the cluster down and for the report.
  const left = deadline - begin - clusterDownMs;
  const options = { env: commandEnv, limitMs: Math.max(0, Math.min(limitMs, left)), signal: interruption.signal };
  const { code, isLate } = await (place === 'first' ? aloud(name, command, options) : behind(name, command, options));
  const seconds = Math.round((performance.now() - begin) / 1000);
  if (interruption.signal.aborted) return { code, seconds, note: `interrupted by ${interruption.signal.reason}` };
  return isLate ? { code: code || 1, seconds, note: `ended after ${seconds} s, its time limit` } : { code, seconds };
}

function aloud(name, command, options) {
  console.log(`\n=== ${name}`);
  return execute(command, options);
}

/** What it prints is shown when it has ended, in one piece. */
async function behind(name, command, options) {
  const file = path.join(scratch, 'behind.log');
  const behindFile = openSync(file, 'w');
  try {
    return await execute(command, { ...options, behindFile });
  } finally {
    closeSync(behindFile);
    console.log(`\n=== ${name}\n${readFileSync(file, 'utf8')}`);
  }
}

const failure = (name, note) => ({ name, passed: 0, failed: 1, seconds: 0, note });

function report() {
  const sum = (key) => results.reduce((total, result) => total + result[key], 0);
  const width = Math.max(...results.map(({ name }) => name.length));
  console.log(`\n=== ${Math.round((performance.now() - begunMs) / 1000)} s`);
  for (const { name, passed, failed, seconds, note } of results) {
    const counts = `${String(passed).padStart(5)} passed ${String(failed).padStart(3)} failed ${String(seconds).padStart(5)} s`;
    console.log(`${name.padEnd(width)} ${counts}${note === undefined ? '' : `   ${note}`}`);
  }
  if (interruption.signal.aborted && sum('failed') === 0) results.push(failure('the run', 'interrupted'));
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
  return sum('failed') === 0;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  results.push(failure('the test run itself', error.stack));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.exitCode = report() ? 0 : 1;
