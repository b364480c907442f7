// @own-process: its clock stands still.
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { pino } from 'pino';
import { type Janitor, startJanitor } from '../../src/server/janitor.ts';
import { copyTemplate, type TestDatabase } from '../support/templates.ts';

let place: TestDatabase;
beforeAll(async () => {
  place = await copyTemplate('migrated');
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
});
afterAll(async () => {
  jest.useRealTimers();
  await place.drop();
});

const minuteMs = 60_000;

it('the janitor waits for its chore when it is told to stop, however long the chore takes', async () => {
  const ending = Promise.withResolvers<number>();
  const begun = Promise.withResolvers<void>();
  let ended = false;
  const chore = {
    name: 'a long chore',
    doSome: async () => {
      begun.resolve();
      const done = await ending.promise;
      ended = true;
      return done;
    },
  };
  const janitor: Janitor = startJanitor({
    database: place.database,
    store: undefined,
    logger: pino({ enabled: false }),
    changesDays: 7,
    additionalChores: [chore],
  });
  jest.advanceTimersByTime(minuteMs);
  await begun.promise;
  // Another round would be due by now.
  jest.advanceTimersByTime(60 * minuteMs);
  await new Promise(setImmediate);
  const stopped = janitor.stop();
  setImmediate(() => ending.resolve(0));
  await stopped;
  expect(ended).toBe(true);
});
