import { createRequire } from 'node:module';

// The package is CommonJS, and jest loads this module before it can strip types.
const { default: TestSequencer } = createRequire(import.meta.url)('@jest/test-sequencer');

/** The files that take the longest. Jest knows durations only from an earlier run, which a fresh clone has not had. */
const longest = [
  'docs/commands',
  'pages/',
  'cli/npm-start',
  'recipes/recipes',
  'cli/package',
  'inputs/stall',
  'attachments/large-files',
  'security/',
  'live/interrupted',
];

/** Begins with the longest files, because a long file that begins last leaves the other workers idle. */
export default class LongestFirst extends TestSequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const index = longest.findIndex((part) => path.includes(`/test/${part}`));
      return index < 0 ? longest.length : index;
    };
    return [...super.sort(tests)].sort((one, other) => rank(one) - rank(other));
  }
}
