import base from '../../jest.config.js';

/**
 * The suite as `npm run mutants` runs it: file after file, as its trials say. A file is tried several times in one process,
 * each time with the state of its modules as at the start, so it runs in a context of jest's own.
 */
export default {
  ...base,
  rootDir: '../..',
  testRunner: 'jest-circus/runner',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/support/strip-types.js' },
  setupFiles: ['<rootDir>/test/support/validated-fetch.ts'],
  setupFilesAfterEnv: ['<rootDir>/test/mutants/watch-fallbacks.ts'],
  reporters: ['<rootDir>/test/mutants/reporter.js'],
  testSequencer: '<rootDir>/test/mutants/sequencer.js',
  testEnvironment: '<rootDir>/test/mutants/environment.js',
  // A test that waits for what a guard would have refused has waited enough.
  testTimeout: 180_000,
};
