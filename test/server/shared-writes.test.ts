import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import { RecentWrites } from '../../src/server/recent-writes.ts';
import { shareWrites } from '../../src/server/shared-writes.ts';
import { eventually } from '../support/eventually.ts';

const redisUrl = process.env.TEST_REDIS_URL;

(redisUrl ? it : it.skip)('machines tell each other by Redis which tokens have written', async () => {
  const [one, other] = [new RecentWrites(), new RecentWrites()];
  const logger = pino({ level: 'silent' });
  const stops = [one, other].map((writes) => shareWrites(String(redisUrl), writes, logger));
  // Both are connected once each has heard of the other.
  await eventually(() => {
    one.note('first');
    return other.has('first');
  });
  await eventually(() => {
    other.note('second');
    return one.has('second');
  });
  one.note('third');
  await eventually(() => other.has('third'));
  expect([one.has('nobody'), other.has('nobody')]).toEqual([false, false]);
  for (const stop of stops) stop();
});

it('a machine says once that Redis does not answer, and still knows its own writes', async () => {
  const warned: string[] = [];
  const logger = pino({}, { write: (line: string) => void warned.push(line) });
  const writes = new RecentWrites();
  const stop = shareWrites('redis://127.0.0.1:1', writes, logger);
  await eventually(() => warned.length > 0);
  writes.note('here');
  writes.note('again');
  await new Promise(setImmediate);
  stop();
  expect([writes.has('here'), warned.length]).toEqual([true, 1]);
});
