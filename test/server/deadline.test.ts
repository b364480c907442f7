import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type App, startApp } from '../support/app.ts';
import { meter, onStatement } from '../../src/db/engine/meter.ts';
import { team } from '../support/fixtures.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { whileIssuesAreBlocked } from '../support/blocked-issues.ts';
import { eventually } from '../support/eventually.ts';
import { sampleOf } from '../support/metrics.ts';

const withinMs = 500;
const queueWaitMs = 300;
/** A tolerance for busy machines. */
const graceMs = 3_000;

let app: App;
let teamId: string;
beforeAll(async () => {
  app = await startApp({ settings: { REQUEST_TIMEOUT_MS: String(withinMs), METRICS_ADDRESS: '0' } });
  teamId = encodeId('team', (await team(app.database, app.workspaceId, { code: 'ENG' })).id);
});
afterAll(() => app.stop());

type SendRequest = () => Promise<{ status: number; headers: Headers; body: unknown }>;

/** Expects that a request is answered 503 at its deadline. */
async function expectRefusedInTime(send: SendRequest, expectedBody: object): Promise<void> {
  const began = performance.now();
  const { status, headers, body } = await send();
  const tookMs = performance.now() - began;
  expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  expect(body).toMatchObject(expectedBody);
  expect(tookMs).toBeGreaterThan(withinMs - 50);
  expect(tookMs).toBeLessThan(withinMs + graceMs);
}

const problem = { code: 'unavailable', status: 503, errors: [] };
const errors = { errors: [{ extensions: { code: 'UNAVAILABLE' } }] };
const create = 'mutation Create($input: IssueCreateInput!) { issueCreate(input: $input) { issue { key } } }';

it('a request past its deadline is refused in time by both APIs, whatever it waits for, and a write can be repeated under its key', async () => {
  const read = () => app.request('GET', '/v1/issues');
  const readGraph = () => app.graphql('{ issues { nodes { title } } }');
  // The first write waits for the data store, and the others wait for the first.
  const writes: SendRequest[] = [1, 2].flatMap((number) => [
    () =>
      app.request('POST', '/v1/issues', {
        headers: { 'Idempotency-Key': `rest-${number}` },
        body: { teamId, title: `Over REST ${number}`, description: '', priority: 0 },
      }),
    () =>
      app.graphql(
        create,
        { input: { teamId, title: `Over GraphQL ${number}` } },
        { headers: { 'Idempotency-Key': `graphql-${number}` } },
      ),
  ]);
  await whileIssuesAreBlocked(app, () =>
    Promise.all([
      expectRefusedInTime(read, problem),
      expectRefusedInTime(readGraph, errors),
      ...writes.map((write, index) => expectRefusedInTime(write, index % 2 === 0 ? problem : errors)),
    ]),
  );
  for (const write of writes) {
    let status = 0;
    // A write that continues after its deadline is still in progress.
    await eventually(async () => {
      ({ status } = await write());
      return ![409, 503].includes(status);
    });
    expect(status).toBeLessThan(300);
  }
  const titles = await app.graphql<{ issues: { nodes: { title: string }[] } }>(
    '{ issues { nodes { title } } }',
  );
  expect(titles.body.data?.issues.nodes.map(({ title }) => title).toSorted()).toEqual([
    'Over GraphQL 1',
    'Over GraphQL 2',
    'Over REST 1',
    'Over REST 2',
  ]);
});

it('what is read for the answer to a write that is done may wait for as long as the request may take', async () => {
  const writeApp = await startApp({
    sharesDatabase: true,
    settings: { QUEUE_WAIT_MS: String(queueWaitMs) },
  });
  const { id } = await team(writeApp.database, writeApp.workspaceId, { code: 'ENG' });
  const waits: [string, number][] = [];
  const stop = onStatement(({ sql }) => {
    const { deadline } = meter() ?? {};
    if (deadline) waits.push([sql, deadline.waitMs]);
  });
  const query = create.replace('{ key }', '{ key activity(first: 5) { nodes { text } } }');
  const input = { teamId: encodeId('team', id), title: 'Written' };
  const { body } = await writeApp.graphql(query, { input });
  stop();
  expect(body.errors).toBeUndefined();
  const limitsOf = (isWrite: boolean) =>
    waits.filter(([sql]) => sql.includes('insert into "issue"') === isWrite).map(([, waitMs]) => waitMs);
  expect(limitsOf(true)).not.toEqual([]);
  expect(limitsOf(true).every((waitMs) => waitMs <= queueWaitMs)).toBe(true);
  expect(Math.max(...limitsOf(false))).toBeGreaterThan(queueWaitMs);
  await writeApp.stop();
});

it('a request past its deadline is refused in time even if what it waits for has no timeout', async () => {
  const ping = app.database.ping.bind(app.database);
  const held = Promise.withResolvers<void>();
  Object.assign(app.database, { ping: () => held.promise });
  await expectRefusedInTime(() => app.graphql('{ readiness { status } }'), errors).finally(() => {
    Object.assign(app.database, { ping });
    held.resolve();
  });
  expect(await sampleOf(app, 'workgraph_admission_requests', 'state="in_progress"')).toBe(0);
});

it('the time that a client takes to send its body does not count', async () => {
  const body = JSON.stringify({ query: '{ viewer { scopes } }' });
  const slowBody = new ReadableStream({
    async start(controller) {
      controller.enqueue(Buffer.from(body.slice(0, 10)));
      await delay(2 * withinMs);
      controller.enqueue(Buffer.from(body.slice(10)));
      controller.close();
    },
  });
  const init: RequestInit & { duplex: 'half' } = {
    method: 'POST',
    headers: { Authorization: `Bearer ${app.token}`, 'Content-Type': 'application/json' },
    body: slowBody,
    duplex: 'half',
  };
  const answer = await fetch(new URL('/graphql', app.url), init);
  expect([answer.status, await answer.json()]).toMatchObject([200, { data: { viewer: {} } }]);
});
