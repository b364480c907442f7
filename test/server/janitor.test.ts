// @own-process: its clock stands still.
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { pino } from 'pino';
import { type Janitor, startJanitor } from '../../src/server/janitor.ts';
import { copyTemplate, type TestDatabase } from '../support/templates.ts';

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await copyTemplate('migrated');
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
});
afterAll(async () => {
  jest.useRealTimers();
  await testDatabase.drop();
});

const minuteMs = 60_000;

it('the janitor waits for its chore when it is told to stop, however long the chore takes', async () => {
  const choreEnd = Promise.withResolvers<number>();
  const choreBegan = Promise.withResolvers<void>();
  let hasEnded = false;
  const chore = {
    name: 'a long chore',
    doSome: async () => {
      choreBegan.resolve();
      const done = await choreEnd.promise;
      hasEnded = true;
      return done;
    },
  };
  const janitor: Janitor = startJanitor({
    database: testDatabase.database,
    store: undefined,
    logger: pino({ enabled: false }),
    changesDays: 7,
    additionalChores: [chore],
  });
  jest.advanceTimersByTime(minuteMs);
  await choreBegan.promise;
  // Another round would be due by now.
  jest.advanceTimersByTime(60 * minuteMs);
  await new Promise(setImmediate);
  const stopped = janitor.stop();
  setImmediate(() => choreEnd.resolve(0));
  await stopped;
  expect(hasEnded).toBe(true);
});
