const packages = ['api', 'engine', 'kube', 'controllers', 'manager', 'sim'];

/** @type {import('jest').Config} */
export default {
  projects: packages.map((name) => ({
    displayName: name,
    rootDir: import.meta.dirname,
    roots: [`<rootDir>/packages/${name}/dist`],
    testMatch: ['**/*.test.js'],
    testEnvironment: 'node',
    transform: {},
    injectGlobals: false,
    restoreMocks: true,
    snapshotResolver: '<rootDir>/tools/jest-snapshots.cjs',
  })),
  coverageProvider: 'v8',
  coverageDirectory: '<rootDir>/coverage',
  coverageReporters: ['text', 'lcovonly', 'json-summary'],
  collectCoverageFrom: ['packages/*/dist/**/*.js', '!**/*.test.js', '!**/generated/**'],
  workerIdleMemoryLimit: '512MB',
  errorOnDeprecated: true,
  reporters: ['default', '<rootDir>/tools/jest-summary.mjs'],
};
