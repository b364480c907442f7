import { once } from 'node:events';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { type App, startApp } from '../support/app.ts';
import { signIn } from './sockets.ts';
import { revokeToken } from '../support/revoke-token.ts';
import { fakeIntervals } from '../support/fake-timers.ts';
import { samplesOf } from '../support/metrics.ts';

let app: App;
beforeAll(async () => {
  // The test runs all intervals itself, such as the checks of tokens.
  fakeIntervals();
  app = await startApp({ sharesDatabase: true });
});
afterAll(async () => {
  await app.stop();
  jest.useRealTimers();
});

it('the idle connections of a revoked token are closed with 4403, and those of other tokens stay open', async () => {
  const token = await app.tokenFor();
  const revoked = [await signIn(app.url, token), await signIn(app.url, token)];
  const other = await signIn(app.url, app.token);
  await revokeToken(app, token);
  jest.advanceTimersByTime(7_500);
  expect(await Promise.all(revoked.map(({ closed }) => closed))).toEqual([4403, 4403]);
  await other.send({ type: 'subscribe', id: '1', payload: { query: '{ __typename }' } });
  const [answer] = (await once(other.socket, 'message')) as [Buffer];
  expect(JSON.parse(String(answer))).toMatchObject({ type: 'next', payload: { data: {} } });
  other.socket.terminate();
});

it('operations that exceed the quota of a token are counted with status 429, as over HTTP', async () => {
  const limitedApp = await startApp({ settings: { REQUESTS_PER_MINUTE: '3', METRICS_ADDRESS: '0' } });
  try {
    const { socket, send } = await signIn(limitedApp.url, limitedApp.token);
    const errors: unknown[] = [];
    const { promise: allAnswered, resolve } = Promise.withResolvers<void>();
    // They are sent one after another, so that the server knows of the empty quota before it reads the last ones.
    const subscribe = (id: number) =>
      send({ type: 'subscribe', id: String(id), payload: { query: '{ viewer { scopes } }' } });
    let answeredCount = 0;
    socket.on('message', (message: Buffer) => {
      const { type, payload } = JSON.parse(String(message)) as { type: string; payload: unknown };
      if (type === 'error') errors.push(payload);
      if (type !== 'error' && type !== 'complete') return;
      answeredCount += 1;
      if (answeredCount < 6) void subscribe(answeredCount);
      else resolve();
    });
    await subscribe(0);
    await allAnswered;
    socket.terminate();
    expect(errors.length).toBeGreaterThan(0);
    for (const error of errors) expect(error).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }]);
    const counted = await samplesOf(limitedApp, 'workgraph_request_duration_seconds_count');
    const refused = [...counted].filter(([labels]) => /status="[45]/.test(labels));
    expect(refused.map(([labels, count]) => [/face="graphql".*status="429"/.test(labels), count])).toEqual([
      [true, errors.length],
    ]);
  } finally {
    await limitedApp.stop();
  }
});
