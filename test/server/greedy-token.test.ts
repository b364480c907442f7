import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { hashToken } from '../../src/resolvers/access/access-tokens.ts';
import { type App, startApp } from '../support/app.ts';
import { logInto } from '../support/log-into.ts';
import { whileIssuesAreBlocked } from '../support/blocked-issues.ts';
import { eventually } from '../support/eventually.ts';
import { sampleOf, samplesOf } from '../support/metrics.ts';

const health = '{ health { status } }';

const lines: Record<string, unknown>[] = [];
const log = logInto(lines);
let app: App;
beforeAll(async () => {
  const settings = { REQUESTS_PER_MINUTE: '3', MAX_CONCURRENCY: '1', METRICS_ADDRESS: '0' };
  app = await startApp({ sharesDatabase: true, settings, logLevel: 'info', log });
});
afterAll(() => app.stop());

/** Creates a token whose bucket is empty; the process knows this from a refusal. */
async function greedyToken(): Promise<string> {
  const token = await app.tokenFor();
  for (let n = 0; n < 4; n += 1) await app.graphql(health, {}, { token });
  return token;
}

it('a token that asks too much gets the same refusal before its request is read as from the APIs, and is counted under what it asked for', async () => {
  const token = await app.tokenFor();
  for (let n = 0; n < 3; n += 1) await app.graphql(health, {}, { token });
  const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
  const headers = { 'x-request-id': 'mine', traceparent, accept: 'application/json' };
  /** A refusal with its numbers replaced, because these change all the time. */
  const refusalOf = async (...[method, path, sent]: Parameters<App['request']>) => {
    const answer = await app.request(method, path, { token, headers, ...sent });
    expect(answer.status).toBe(429);
    const inHeaders = [...answer.headers].map(([name, value]) => [name, value.replaceAll(/\d+/g, '0')]);
    const body = JSON.stringify(answer.body).replaceAll(/\d+/g, '0');
    const traced = answer.headers.get('traceresponse')?.length;
    return { body, headers: { ...Object.fromEntries(inHeaders), date: '', traceresponse: traced } };
  };
  const counts = async () => {
    const samples = await samplesOf(app, 'workgraph_request_duration_seconds_count');
    const countOf = (labels: string) => samples.get(`${labels},status="429"`) ?? 0;
    return {
      rest: countOf('face="rest",route="/v1/teams",operation="Teams"'),
      graph: countOf('face="graphql",route="/graphql",operation="other"'),
    };
  };
  const before = await counts();
  const firstRefusal = await refusalOf('GET', '/v1/teams');
  expect(await refusalOf('GET', '/v1/teams')).toEqual(firstRefusal);
  const graph = await refusalOf('POST', '/graphql', { body: { query: health } });
  expect(graph.headers).toEqual({
    ...firstRefusal.headers,
    'content-type': 'application/json; charset=utf-0',
    vary: 'Accept, Authorization, Accept-Encoding',
  });
  expect(graph.body).toContain('"code":"RATE_LIMITED"');
  expect(await counts()).toEqual({ rest: before.rest + 2, graph: before.graph + 1 });
});

it('a token that asks too much has its short bodies read to the end, and its connection closed after a long one', async () => {
  const token = await greedyToken();
  for (const [length, connection] of [
    [65_536, 'keep-alive'],
    [65_537, 'close'],
  ] as const) {
    const answer = await app.request('POST', '/graphql', { token, body: 'x'.repeat(length) });
    expect([length, answer.status, answer.headers.get('connection')]).toEqual([length, 429, connection]);
  }
});

it('a token that asks too much is refused while every place is taken and the data store is silent', async () => {
  const token = await greedyToken();
  const held = await whileIssuesAreBlocked(app, async () => {
    const asked = app.request('GET', '/v1/issues');
    await eventually(
      async () => (await sampleOf(app, 'workgraph_admission_requests', 'state="in_progress"')) === 1,
    );
    expect((await app.request('GET', '/v1/issues', { token })).status).toBe(429);
    expect((await app.graphql(health, {}, { token })).status).toBe(429);
    return { answer: asked };
  });
  expect((await held.answer).status).toBe(200);
});

it('a token that asks too much gets one line in the log for all its refusals within a second', async () => {
  const token = await greedyToken();
  const began = performance.now();
  for (let n = 0; n < 20; n += 1) await app.request('GET', '/v1/projects', { token });
  const seconds = (performance.now() - began) / 1_000;
  const samples = () => {
    const counts = lines.filter(({ refused }) => refused !== undefined);
    const sum = (some: typeof lines) => some.reduce((total, { refused }) => total + Number(refused), 0);
    return [...Map.groupBy(counts, ({ tokenId }) => tokenId).values()].find((ofToken) => sum(ofToken) === 20);
  };
  await eventually(() => samples() !== undefined);
  const own = lines.filter(({ path, status }) => path === '/v1/projects' && status === 429);
  expect(own).toEqual([]);
  // They take more than one second on a slow machine, and a second may end between any two of them.
  expect(samples()?.length).toBeLessThanOrEqual(2 + Math.floor(seconds));
  expect(samples()?.[0]).toMatchObject({ level: 30, tokenId: expect.any(String) });
});

it('a token that asks too much is answered 401 as soon as it is revoked, however empty its bucket', async () => {
  const token = await greedyToken();
  const statusNow = async () => (await app.request('GET', '/v1/teams', { token })).status;
  expect(await statusNow()).toBe(429);
  const began = performance.now();
  await app.database.unscoped
    .updateTable('accessToken')
    .set({ revokedUtc: new Date() })
    .where('tokenHash', '=', hashToken(token))
    .execute();
  await eventually(async () => (await statusNow()) === 401);
  expect(performance.now() - began).toBeLessThan(5_000);
});

it('a token that asks too much is not refused public resources', async () => {
  const token = await greedyToken();
  const statusOf = async (method: string, path: string) =>
    (await app.request(method, path, { token })).status;
  expect(await statusOf('GET', '/v1/openapi.json')).toBe(200);
  expect(await statusOf('OPTIONS', '/v1/teams')).toBe(204);
  expect(await statusOf('GET', '/v1/meta/codes')).toBe(200);
  expect(await statusOf('GET', '/v1/nothing')).toBe(404);
  expect(await statusOf('PUT', '/graphql')).toBe(405);
  expect(await statusOf('GET', '/v1/teams')).toBe(429);
});
