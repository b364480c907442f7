import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { mutants } from '../reference/mutant-list.ts';

const root = join(import.meta.dirname, '../..');

// `npm run mutants:reference` runs rarely, so it would report late that it no longer finds a safeguard. This test is not in
// test/reference, because it fails for each mutant, so that each would seem to be killed.
it.each(mutants)('$file contains the code that the mutant changes once: $name', ({ file, from }) => {
  expect(readFileSync(join(root, file), 'utf8').split(from)).toHaveLength(2);
});
