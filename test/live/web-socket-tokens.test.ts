import { once } from 'node:events';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { type App, startApp } from '../support/app.ts';
import { bare } from './sockets.ts';
import { revokeToken } from '../support/revoke-token.ts';
import { fakeIntervals } from '../support/fake-timers.ts';

let app: App;
beforeAll(async () => {
  // Only what is repeated waits for the test, such as the checks of tokens.
  fakeIntervals();
  app = await startApp({ sharesDatabase: true });
});
afterAll(async () => {
  await app.stop();
  jest.useRealTimers();
});

async function signIn(token: string) {
  const connection = bare(app.url);
  await connection.say({ type: 'connection_init', payload: { Authorization: `Bearer ${token}` } });
  await once(connection.socket, 'message');
  return connection;
}

it('closes the idle connections of a revoked token with 4403, and those of other tokens stay open', async () => {
  const token = await app.tokenFor();
  const revoked = [await signIn(token), await signIn(token)];
  const other = await signIn(app.token);
  await revokeToken(app, token);
  jest.advanceTimersByTime(7_500);
  expect(await Promise.all(revoked.map(({ closed }) => closed))).toEqual([4403, 4403]);
  await other.say({ type: 'subscribe', id: '1', payload: { query: '{ __typename }' } });
  const [answer] = (await once(other.socket, 'message')) as [Buffer];
  expect(JSON.parse(String(answer))).toMatchObject({ type: 'next', payload: { data: {} } });
  other.socket.terminate();
});
