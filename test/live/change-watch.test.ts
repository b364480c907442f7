import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { ChangeWatch } from '../../src/live/change-watch.ts';
import { newUuid } from '../../src/resolvers/ids.ts';
import { type App, startApp } from '../support/app.ts';

let app: App;
let watch: ChangeWatch;
beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
  watch = new ChangeWatch(app.database, pino({ level: 'silent' }));
});
afterAll(async () => {
  watch.close();
  await app.stop();
});

it('a stream that is ended twice leaves the later streams of its workspace awake', async () => {
  const workspaceId = newUuid();
  const ended = watch.arrivals(workspaceId);
  ended.end();
  const later = watch.arrivals(workspaceId);
  // A stream that has reached its maximum age ends here, and once more when its client has received the last message.
  ended.end();
  watch.note(workspaceId, 5);
  expect(await later.next(5_000)).toBe(true);
  expect(later.position).toBe(5);
});
