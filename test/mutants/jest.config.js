import base from '../../jest.config.js';

/** The suite as `npm run mutants` runs it: file after file, as its trials say. */
export default {
  ...base,
  rootDir: '../..',
  reporters: ['<rootDir>/test/mutants/reporter.js'],
  testSequencer: '<rootDir>/test/mutants/sequencer.js',
  testEnvironment: '<rootDir>/test/mutants/environment.js',
  // A test that waits for what a guard would have refused has waited enough.
  testTimeout: 60_000,
};
