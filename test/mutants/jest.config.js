import base from '../../jest.config.js';

/**
 * The suite as `npm run mutants` runs it: one file after the other, in the order of the trials. A file runs several times in one
 * process, and its modules must begin anew each time, so it runs in one of jest's own contexts.
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
  // A test may wait in vain for something that the guard would have refused.
  testTimeout: 180_000,
};
