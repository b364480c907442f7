import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

it('a write leaves nothing of its batch in the old space, whose collection takes long', () => {
  const printed = execFileSync(
    process.execPath,
    [
      '--expose-gc',
      '--max-semi-space-size=16',
      '--initial-old-space-size=1024',
      // As bin/workgraph.js does.
      '--no-allocation-site-pretenuring',
      join(import.meta.dirname, 'young-writes-process.ts'),
    ],
    { encoding: 'utf8' },
  );
  // The objects of one write take 20,000 bytes.
  expect(Number(printed)).toBeLessThan(1_000);
});
