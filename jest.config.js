// As bin/workgraph.js does: graphql-js then leaves out a check of each type, and jest would choose `test`.
process.env.NODE_ENV = 'production';

/** Runs the .ts files as they are: types are stripped, modules stay ES modules (see the `test` script). */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  setupFiles: ['<rootDir>/test/support/validated-fetch.ts'],
  setupFilesAfterEnv: ['<rootDir>/test/support/fallback-watch.ts'],
  transform: { '\\.ts$': '<rootDir>/test/support/strip-types.js' },
  // Data directories, the CI's scratch and built packages hold nothing that jest should index.
  modulePathIgnorePatterns: ['<rootDir>/.workgraph', '<rootDir>/dist'],
  watchman: false,
  maxWorkers: 2,
  // Contexts of finished test files stay in the heap (jest's ES modules); marking them costs more than a new worker does.
  workerIdleMemoryLimit: '350MB',
  testTimeout: 120_000,
};
