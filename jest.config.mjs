const common = {
  rootDir: import.meta.dirname,
  testEnvironment: 'node',
  transform: {},
  injectGlobals: false,
  restoreMocks: true,
};

/** Tests compiled from TypeScript, whose snapshots stay beside the sources. */
const compiled = {
  ...common,
  snapshotResolver: '<rootDir>/tools/jest-snapshots.cjs',
  setupFiles: ['<rootDir>/tools/jest-seed.mjs'],
};

/** The tests beside the code of a package. */
const unit = (name) => ({
  ...compiled,
  displayName: name,
  roots: [`<rootDir>/packages/${name}/dist`],
  testMatch: ['**/*.test.js'],
});

/** Suites over the whole, in some folders of `e2e`. */
const wide = (name, ...folders) => ({
  ...compiled,
  displayName: `e2e-${name}`,
  roots: ['<rootDir>/e2e/dist'],
  testMatch: folders.map((folder) => `<rootDir>/e2e/dist/${folder}/**/*.test.js`),
});

/** @type {import('jest').Config} */
export default {
  projects: [
    ...['api', 'engine', 'kube', 'controllers', 'manager', 'kubectl-ome', 'sim'].map(unit),
    { ...common, displayName: 'e2e-cluster', roots: ['<rootDir>/e2e/cluster'], testMatch: ['**/*.test.mjs'] },
    wide('sim', 'sim'),
    wide('demo', 'demo'), // a part of it needs kubectl
    wide('conformance', 'conformance', 'kube', 'crds', 'status'), // needs an API server and fake nodes
    wide('nodes', 'nodes'), // needs real nodes
  ],
  coverageProvider: 'v8',
  coverageDirectory: '<rootDir>/coverage',
  coverageReporters: ['text', 'lcovonly', 'json-summary'],
  collectCoverageFrom: ['packages/*/dist/**/*.js', '!**/*.test.js', '!**/generated/**'],
  workerIdleMemoryLimit: '512MB',
  errorOnDeprecated: true,
  reporters: ['default', '<rootDir>/tools/jest-summary.mjs'],
};
