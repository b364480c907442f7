import { setImmediate } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { Attempts } from '../../src/live/webhooks/attempts.ts';

it('the wait for work gathers news that keeps coming', async () => {
  const attempts = new Attempts({ send: () => Promise.reject(new Error('Nothing is sent.')) });
  const startedMs = performance.now();
  const waited = attempts.waitForWork().then(() => 'over');
  const news = async () => {
    attempts.noteChanges();
    await setImmediate();
    return 'news';
  };
  const elapsedMs = () => performance.now() - startedMs;
  while ((await Promise.race([waited, news()])) === 'news' && elapsedMs() < 60_000);
  expect(elapsedMs()).toBeGreaterThan(45);
  await waited;
});
