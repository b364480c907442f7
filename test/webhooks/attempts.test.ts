import { setImmediate } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { Attempts } from '../../src/live/webhooks/attempts.ts';

it('waitForWork collects the changes of 50 ms, although more keep arriving', async () => {
  const attempts = new Attempts({ send: () => Promise.reject(new Error('Nothing is sent.')) });
  const startedMs = performance.now();
  const waited = attempts.waitForWork().then(() => 'over');
  const noteChange = async () => {
    attempts.noteChanges();
    await setImmediate();
    return 'noted';
  };
  const elapsedMs = () => performance.now() - startedMs;
  while ((await Promise.race([waited, noteChange()])) === 'noted' && elapsedMs() < 60_000);
  expect(elapsedMs()).toBeGreaterThan(45);
  await waited;
});
