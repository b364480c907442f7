import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { hasServer } from './engines.ts';

const onlyWithServer = hasServer ? describe : describe.skip;

onlyWithServer('rows in memory (needs TEST_DATABASE_URL)', () => {
  it('rows of answered statements do not get into the old space, whose collection takes long', () => {
    const printed = execFileSync(
      process.execPath,
      [
        '--max-semi-space-size=16',
        '--initial-old-space-size=1024',
        // As bin/workgraph.js does.
        '--no-allocation-site-pretenuring',
        join(import.meta.dirname, 'young-rows-process.ts'),
      ],
      { env: { ...process.env, DATABASE_URL: process.env.TEST_DATABASE_URL }, encoding: 'utf8' },
    );
    // The objects of one statement take 7,000 bytes.
    for (const bytes of JSON.parse(printed) as number[]) expect(bytes).toBeLessThan(350);
  });
});
