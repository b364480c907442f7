import { createRequire } from 'node:module';

// The package is CommonJS, and jest loads this module before it can strip types.
const { default: TestSequencer } = createRequire(import.meta.url)('@jest/test-sequencer');

/**
 * The files that take the longest. Jest knows durations only from an earlier run, which a fresh clone has not had. Those that mostly
 * wait, for processes or times, come between those that compute, so that both cores are busy.
 */
const longest = [
  'docs/commands',
  'graph/short-pages',
  'cli/npm-start',
  'recipes/recipes',
  'webhooks/bounds',
  'pages/',
  'cli/package',
  'security/isolation',
  'live/interrupted',
  'contract/generated',
  'attachments/large-files',
  'live/streams',
  'cli/demo.test',
  'live/events',
  'server/replica-',
  'security/scope-matrix',
  'inputs/stall',
  'server/unsent',
  'cli/import-kill',
  'resources/issues-write-batch',
  'security/tenant-filters',
  'cli/serve',
  'inputs/fuzz',
  'cli/backup',
  'live/reset',
  'cli/token',
  'cli/terminal',
  'inputs/naughty',
  'cli/import-history',
  'inputs/integers',
  'security/',
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
