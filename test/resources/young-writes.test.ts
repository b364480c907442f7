import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { runUncollected } from '../support/old-space.ts';

it('a write leaves nothing of its batch in the old space, whose collection takes long', () => {
  const bytes = runUncollected(join(import.meta.dirname, 'young-writes-process.ts'));
  // The objects of one write take 20,000 bytes.
  expect(bytes).toBeLessThan(1_000);
});
