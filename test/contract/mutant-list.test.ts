import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { mutants } from '../reference/mutant-list.ts';

const root = join(import.meta.dirname, '../..');

// `npm run mutants:reference` runs rarely, and would only then say that it no longer finds a safeguard. This test is not beside
// it, because it fails for each mutant, so each would seem to be killed.
it.each(mutants)('the code that the mutant changes is in $file once: $name', ({ file, from }) => {
  expect(readFileSync(join(root, file), 'utf8').split(from)).toHaveLength(2);
});
