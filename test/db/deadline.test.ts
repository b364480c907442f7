import { expect, it } from '@jest/globals';
import { Deadline } from '../../src/db/engine/deadline.ts';
import { Semaphore } from '../../src/db/engine/semaphore.ts';

const limits = { withinMs: 60_000, waitMs: 60_000 };

it('whoever begins to wait after the client has gone does not wait', async () => {
  const deadline = new Deadline(limits);
  deadline.abort();
  expect(await new Semaphore(0).acquire({ deadline })).toBe(false);
});

it('a listener that was removed is not told that the client has gone', async () => {
  const deadline = new Deadline(limits);
  const notified: string[] = [];
  deadline.onDisconnect(() => void notified.push('before'))();
  deadline.abort();
  deadline.onDisconnect(() => void notified.push('after'))();
  deadline.onDisconnect(() => void notified.push('stays'));
  await Promise.resolve();
  expect(notified).toEqual(['stays']);
});
