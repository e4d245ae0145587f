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

/** @type {Readonly<Record<string, readonly Suite[]>>} */
export const suites = {
  lint: [
    {
      steps: [
        step('biome', 'npx', 'biome', 'ci', '--error-on-warnings', '.'),
        step('oxlint', 'npx', 'oxlint', '-f', 'unix'),
        step('arrows', 'node', 'tools/arrows.mjs'),
        step('golden files', 'node', 'tools/golden.mjs'),
        step('generated files', 'npm', 'run', '--silent', 'generate:check'),
        step('bundle', 'npm', 'run', '--silent', 'bundle'),
        step('smoke', 'npm', 'run', '--silent', 'smoke'),
      ],
    },
  ],
  unit: [
    {
      steps: [
        jest(
          { limitMs: 15 * minute, options: inParallel },
          'api',
          'engine',
          'kube',
          'controllers',
          'manager',
          'kubectl-ome',
          'sim',
        ),
      ],
    },
  ],
  sim: [{ steps: [jest({ limitMs: 30 * minute, options: inParallel }, 'e2e-sim')] }],
  cluster: [
    { steps: [jest({ limitMs: 10 * minute, options: inTurn }, 'e2e-cluster')] },
    {
      cluster: ['--fake', '5'],
      steps: [jest({ limitMs: 10 * minute, options: inTurn }, 'e2e-conformance')],
    },
    {
      cluster: ['--nodes', '2'],
      steps: [jest({ limitMs: 25 * minute, options: inTurn, env: { OME_E2E_NODES: '1' } }, 'e2e-nodes')],
    },
  ],
  // After `cluster`, which builds the kubectl that a part of it needs.
  demo: [{ steps: [jest({ limitMs: 10 * minute, options: ['--maxWorkers=1'] }, 'e2e-demo')] }],
  soak: [
    {
      steps: [
        jest(
          { limitMs: 10 * minute, options: inParallel, env: { OME_PROPERTY_SEED: 'random' } },
          'api',
          'engine',
          'kube',
        ),
      ],
    },
    { steps: [jest({ limitMs: 150 * minute, options: inParallel, env: { OME_SOAK: '1' } }, 'e2e-sim')] },
    {
      cluster: ['--nodes', '2'],
      steps: [
        jest(
          {
            limitMs: 60 * minute,
            options: [...inTurn, '--testPathPatterns', 'nodes/(lab|strategies)'],
            env: { OME_E2E_NODES: '1', OME_SOAK: '1' },
          },
          'e2e-nodes',
        ),
      ],
    },
  ],
};

/** What runs when nobody says what. */
export const usual = ['lint', 'unit', 'sim', 'cluster', 'demo'];
