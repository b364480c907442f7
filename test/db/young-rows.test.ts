import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { runUncollected } from '../support/old-space.ts';
import { hasServer } from './engines.ts';

const onPostgres = hasServer ? describe : describe.skip;

onPostgres('rows in memory (needs TEST_DATABASE_URL)', () => {
  it('rows of answered statements are not promoted to the old generation', () => {
    const env = { DATABASE_URL: process.env.TEST_DATABASE_URL };
    const left = runUncollected(join(import.meta.dirname, 'young-rows-process.ts'), env);
    // The objects of one statement take 7,000 bytes.
    for (const bytes of left as number[]) expect(bytes).toBeLessThan(350);
  });
});
