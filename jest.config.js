// As bin/workgraph.js does: graphql-js then leaves out a check of each type, and jest would choose `test`.
process.env.NODE_ENV = 'production';

/** Node itself loads the .ts files, once for all test files of a worker (test/support/native-runner). */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  // Otherwise jest would send the files above through Babel.
  transform: {},
  testSequencer: '<rootDir>/test/support/sequencer.js',
  testRunner: '<rootDir>/test/support/native-runner/run.ts',
  // Data directories, the CI's scratch and built packages hold nothing that jest should index.
  modulePathIgnorePatterns: ['<rootDir>/.workgraph', '<rootDir>/dist'],
  watchman: false,
  // Tests often wait for processes that they have started, so more of them than two cores would need keep both busy.
  maxWorkers: 3,
  workerIdleMemoryLimit: '1GB',
  // At its end a worker writes what Node has compiled (NODE_COMPILE_CACHE). Jest would kill it after half a second, and then the next
  // run would have to compile again what is missing.
  workerGracefulExitTimeout: 30_000,
  // Ends a test that hangs. It is no measure of speed, so one bound that the slowest machine keeps serves nearly all tests.
  testTimeout: 300_000,
};
