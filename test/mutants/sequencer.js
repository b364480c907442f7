import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Makes jest run test files in the order of the trials, in which a file may occur many times. */
export default class Sequencer {
  sort(tests) {
    const trials = JSON.parse(readFileSync(join(process.env.MUTANTS_NOTES ?? '', 'trials'), 'utf8'));
    return trials.map(({ file }) => tests.find(({ path }) => path.endsWith(`/${file}`)));
  }

  cacheResults() {}
}
