// What there is to test. A suite is a list of steps; a step counts as one test, unless jest counts for it.

const minute = 60_000;

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {readonly string[]} command
 * @property {number} limitMs
 * @property {'step' | 'jest'} counts who counts: the step is one test, or jest tells
 * @property {Record<string, string>} [env]
 */

/**
 * @typedef {object} Suite
 * @property {readonly Step[]} steps
 * @property {readonly string[]} [cluster] how to bring up the cluster it needs: arguments of `scripts/cluster up`
 */

/** @returns {Step} */
const step = (name, ...command) => ({ name, command, limitMs: 5 * minute, counts: 'step' });

/** @returns {Step} */
function jest({ limitMs, options, env = {} }, ...projects) {
  const command = ['npx', 'jest', ...options, '--selectProjects', ...projects];
  const modules = { NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning' };
  return { name: `jest ${projects.join(' ')}`, command, limitMs, counts: 'jest', env: { ...modules, ...env } };
}

/** Everything else needs this. */
export const build = step('build', 'npm', 'run', '--silent', 'build');

const inParallel = ['--maxWorkers=2'];
// Suites that share a cluster take turns, and the machine is busy with the cluster.
const inTurn = ['--maxWorkers=1', '--testTimeout=120000'];
const realNodes = ['--nodes', '2'];
/** Suites of which every request must be answered in time: whatever else runs on the machine would count against us. */
const underProbers = 'nodes/(crash|lab|strategies)';

/** @type {Suite} */
const lint = {
  steps: [
    step('biome', 'npx', 'biome', 'ci', '--error-on-warnings', '.'),
    step('oxlint', 'npx', 'oxlint', '-f', 'unix'),
    step('arrows', 'node', 'tools/arrows.mjs'),
    step('golden files', 'node', 'tools/golden.mjs'),
    step('generated files', 'npm', 'run', '--silent', 'generate:check'),
    step('bundle', 'npm', 'run', '--silent', 'bundle'),
    step('smoke', 'npm', 'run', '--silent', 'smoke'),
  ],
};

const packages = ['api', 'engine', 'kube', 'controllers', 'manager', 'kubectl-ome', 'sim'];
/** @type {Suite} */
const unit = { steps: [jest({ limitMs: 15 * minute, options: inParallel }, ...packages)] };

/** @type {Suite} */
const sim = { steps: [jest({ limitMs: 40 * minute, options: [...inParallel, '--testTimeout=120000'] }, 'e2e-sim')] };

/** The cluster's own scripts. @type {Suite} */
const scripts = { steps: [jest({ limitMs: 10 * minute, options: inTurn }, 'e2e-cluster')] };

/** @type {Suite} */
const conformance = {
  cluster: ['--fake', '5'],
  steps: [jest({ limitMs: 10 * minute, options: inTurn }, 'e2e-conformance')],
};

/** @type {(...options: string[]) => Step} */
const onNodes = (...options) =>
  jest({ limitMs: 25 * minute, options: [...inTurn, ...options], env: { OME_E2E_NODES: '1' } }, 'e2e-nodes');

/** @type {Suite} */
const nodes = {
  cluster: realNodes,
  steps: [onNodes('--maxConcurrency=8', '--testPathIgnorePatterns', underProbers)],
};
/** @type {Suite} */
const probed = { cluster: realNodes, steps: [onNodes('--testPathPatterns', underProbers)] };

/** A part of it needs the kubectl that a cluster is built with. @type {Suite} */
const demo = { steps: [jest({ limitMs: 10 * minute, options: ['--maxWorkers=1'] }, 'e2e-demo')] };

const random = { OME_PROPERTY_SEED: 'random' };
const long = { OME_SOAK: '1' };
const soakedOnNodes = {
  limitMs: 60 * minute,
  options: [...inTurn, '--testPathPatterns', 'nodes/(lab|strategies)'],
  env: { OME_E2E_NODES: '1', ...long },
};

/** By the names that `scripts/test` takes. @type {Readonly<Record<string, readonly Suite[]>>} */
export const suites = {
  lint: [lint],
  unit: [unit],
  sim: [sim],
  cluster: [scripts, conformance, nodes, probed],
  demo: [demo],
  soak: [
    { steps: [jest({ limitMs: 10 * minute, options: inParallel, env: random }, 'api', 'engine', 'kube')] },
    { steps: [jest({ limitMs: 150 * minute, options: inParallel, env: long }, 'e2e-sim')] },
    { cluster: realNodes, steps: [jest(soakedOnNodes, 'e2e-nodes')] },
  ],
};

/** @typedef {readonly (readonly [name: string, suite: Suite])[]} Lane suites that run one after the other */

const lane = (name, ...ofIt) => ofIt.map((suite) => [name, suite]);

/** One suite after the other, by the names that somebody gave. */
export const stagesOf = (names) => [{ first: names.flatMap((name) => lane(name, ...suites[name])) }];

/**
 * What runs when nobody says what: stages one after the other. The lanes of a stage run side by side: the suites on
 * clusters mostly wait, and what computes takes the time that they leave.
 *
 * @type {readonly { readonly first: Lane, readonly beside?: Lane }[]}
 */
export const usual = [
  { first: [...lane('lint', lint), ...lane('unit', unit)] },
  { first: [...lane('cluster', scripts, conformance, nodes), ...lane('demo', demo)], beside: lane('sim', sim) },
  { first: lane('cluster', probed) },
];
