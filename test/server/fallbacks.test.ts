import { execFileSync } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OperationTypeNode, parse } from 'graphql';
import { pino } from 'pino';
import { documents as benchmark } from '../../bench/workloads/documents.ts';
import { compileOperation } from '../../src/executor/compiled/compile/compile.ts';
import { compiledCounts } from '../../src/executor/compiled/run/executor.ts';
import { chooseOperation } from '../../src/executor/run/execute.ts';
import { fragmentsOf } from '../../src/executor/selections/operation.ts';
import { fallbackChannel } from '../../src/executor/run/fallbacks.ts';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { schema } from '../../src/schema/index.ts';
import { readConfig } from '../../src/server/config.ts';
import { type RunningServer, startServer } from '../../src/server/server.ts';
import { type Answer, type App, startApp } from '../support/app.ts';
import { allowFallback } from '../support/deliberate-fallbacks.ts';
import { unknownFallbacks } from '../support/fallback-watch.ts';
import { installAgent, issueWorld } from '../support/issue-world.ts';
import { callerOf } from '../support/mutations.ts';

let app: App;
beforeAll(async () => {
  app = await startApp({ settings: { EXECUTOR: 'compiled' } });
});
afterAll(() => app.stop());

describe('the compiled executor', () => {
  const folder = join(import.meta.dirname, '../../docs/queries');
  const queries = readdirSync(folder).map(
    (file) => [file, readFileSync(join(folder, file), 'utf8')] as const,
  );
  const operations = [
    ...queries.map(([file, text]) => [`docs/queries/${file}`, parse(text)] as const),
    ...Object.entries(benchmark).map(([id, text]) => [`${id} of the benchmark`, parse(text)] as const),
    ...routeTable.map(({ method, path, document }) => [`${method} ${path}`, document] as const),
  ].filter(([, document]) => chooseOperation(document, undefined).operation === OperationTypeNode.QUERY);

  it.each(operations)('compiles %s', (_name, document) => {
    const operation = chooseOperation(document, undefined);
    const compile = () => compileOperation(schema, operation, fragmentsOf(document), {});
    expect(compile).not.toThrow();
  });
});

it('the compiled executor answers objects of a JSON column in both APIs', async () => {
  const world = await issueWorld(app, await app.secondWorkspace());
  await installAgent(app, world, world.agent);
  const followUpActions = [
    { name: 'Go on', key: 'go-on', color: '#00f' },
    { name: 'Stop "now"', key: 'stop', color: '' },
  ];
  const sent = { token: world.ada.token };
  const { key } = await callerOf(app, world.ada.token).create({ teamId: world.eng.id, title: 'An issue' });
  const before = { ...compiledCounts };
  const path = `/v1/issues/${key}/agent-thread/messages`;
  const created = await app.request('POST', path, { ...sent, body: { body: 'Go', followUpActions } });
  expect(created).toMatchObject({ status: 201, body: { followUpActions } });
  const listed = await app.request<{ messages: object[] }>('GET', path, sent);
  expect(listed.body.messages).toMatchObject([{ followUpActions }]);
  const mutationAnswer = await app.graphql(
    `mutation ($input: AgentMessageCreateInput!) {
      agentMessageCreate(input: $input) { message { followUpActions { name key color } } }
    }`,
    { input: { issueKey: key, body: 'Go', followUpActions: followUpActions.slice(1) } },
    sent,
  );
  expect(mutationAnswer.body.data).toEqual({
    agentMessageCreate: { message: { followUpActions: followUpActions.slice(1) } },
  });
  const read = await app.graphql(
    `query ($key: String!) {
      issue(key: $key) { agentThread { messages { nodes { offered: followUpActions { name } } } } }
    }`,
    { key },
    { ...sent, headers: { 'X-GraphQL-Cost': '1' } },
  );
  const nodes = [
    { offered: [{ name: 'Go on' }, { name: 'Stop "now"' }] },
    { offered: [{ name: 'Stop "now"' }] },
  ];
  expect(read.body.data).toEqual({ issue: { agentThread: { messages: { nodes } } } });
  // The issue, its thread, two messages and three actions.
  expect(read.body.extensions).toMatchObject({ cost: { actual: 7 } });
  expect(compiledCounts).toMatchObject({ answered: before.answered + 4, bailed: before.bailed });
});

describe('the watch over all tests', () => {
  const publish = (fallback: object) =>
    `import('node:diagnostics_channel').then(({ channel }) => {
      channel('workgraph:fallback').publish(${JSON.stringify(fallback)});
    });`;

  it('sees an unknown fallback of this process', () => {
    fallbackChannel.publish({ kind: 'bail', message: 'A new reason.', operation: 'Here' });
    fallbackChannel.publish({ kind: 'no plan', message: 'Query.__schema', operation: 'Here' });
    expect(unknownFallbacks()).toEqual(['bail: A new reason. (Here)']);
  });

  it('sees an unknown fallback of a process that a test starts', () => {
    for (const message of ['Not a function.', 'Not a function.'])
      execFileSync(process.execPath, ['-e', publish({ kind: 'fault', message, operation: '' })]);
    expect(unknownFallbacks()).toEqual(['fault: Not a function. (-)']);
    expect(unknownFallbacks()).toEqual([]);
  });

  it('waits for the rest of a line that a process is writing', () => {
    const { WORKGRAPH_TEST_FALLBACKS: folder = '', JEST_WORKER_ID: worker = '' } = process.env;
    const line = `${JSON.stringify({ kind: 'fault', message: 'Half.', operation: '' })}\n`;
    appendFileSync(join(folder, worker), line.slice(0, 10));
    expect(unknownFallbacks()).toEqual([]);
    appendFileSync(join(folder, worker), line.slice(10));
    expect(unknownFallbacks()).toEqual(['fault: Half. (-)']);
  });
});

describe('queries that only graphql-js can answer', () => {
  /** Introspection has no plan; readiness waits for the data store. */
  const fallback = '{ __schema { queryType { name } } readiness { status } }';

  /** Keeps all fallbacks waiting for the data store until `answer` is called. */
  function holdPings(cleanup: DisposableStack): { pings: () => number; answer: () => void } {
    let pings = 0;
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const ping = app.database.ping.bind(app.database);
    const heldPing = async () => {
      pings += 1;
      await answered;
    };
    Object.assign(app.database, { ping: heldPing });
    cleanup.defer(() => {
      answer();
      Object.assign(app.database, { ping });
    });
    return { pings: () => pings, answer };
  }

  const firstOf = (pending: readonly Promise<Answer>[]) =>
    Promise.race([...pending, delay(20_000, undefined, { ref: false })]);

  const expectOthersAnswered = async () =>
    expect((await app.graphql('{ teams { totalCount } }')).body).toEqual({
      data: { teams: { totalCount: 0 } },
    });

  it('run 8 at once, 100 wait, and the next is refused', async () => {
    using cleanup = new DisposableStack();
    const { pings, answer } = holdPings(cleanup);
    const pending = Array.from({ length: 109 }, () => app.graphql(fallback));
    const refused = await firstOf(pending);
    expect(refused?.status).toBe(503);
    expect(refused?.headers.get('retry-after')).toBe('1');
    expect(refused?.body).toMatchObject({
      errors: [{ message: expect.stringContaining('are waiting'), extensions: { code: 'UNAVAILABLE' } }],
    });
    expect(pings()).toBe(8);
    // Other requests do not wait for them.
    await expectOthersAnswered();
    answer();
    const statuses = (await Promise.all(pending)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(108);
    expect(pings()).toBe(108);
    cleanup.dispose();
    expect((await app.graphql(fallback)).status).toBe(200);
  });

  it('share their queue with queries with X-Workgraph-Snapshot, which wait before they take a connection', async () => {
    using cleanup = new DisposableStack();
    const { pings, answer } = holdPings(cleanup);
    const fallbacks = Array.from({ length: 8 }, () => app.graphql(fallback));
    while (pings() < 8) await app.graphql('{ health { status } }');
    const headers = { 'X-Workgraph-Snapshot': 'true' };
    const snapshots = Array.from({ length: 101 }, () => app.graphql(fallback, {}, { headers }));
    expect((await firstOf(snapshots))?.status).toBe(503);
    await expectOthersAnswered();
    answer();
    const statuses = (await Promise.all([...fallbacks, ...snapshots])).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(108);
  });
});

describe('the log', () => {
  interface Line {
    level: number;
    msg: string;
    operation?: string;
    err?: { message: string };
  }
  const lines: Line[] = [];
  let server: RunningServer;
  beforeAll(async () => {
    const config = readConfig({ PORT: '0', DATA_DIR: app.dataDir }, {});
    const write = (line: string) => void lines.push(JSON.parse(line) as Line);
    server = await startServer({
      database: app.database,
      config,
      logger: pino({ level: 'debug' }, { write }),
    });
  });
  afterAll(() => server.stop());

  const runQuery = async (query: string, variables = {}): Promise<Answer['body']> => {
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${app.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
    return response.json();
  };
  const linesOf = (operation: string) =>
    lines
      .filter((line) => line.msg.startsWith('graphql-js answers') && line.operation === operation)
      .map(({ level, err }) => [pino.levels.labels[level], err?.message]);

  it('says once of a cached operation why it is left to graphql-js', async () => {
    const query = 'query Described { __schema { queryType { name } } health { status } }';
    // The second time caches the document.
    await runQuery(query);
    const before = linesOf('Described').length;
    for (let n = 0; n < 3; n += 1) await runQuery(query);
    expect(linesOf('Described').slice(before)).toEqual([['debug', 'Query.__schema']]);
    const refused = 'query Refused($first: Int) { teams(first: $first) { totalCount } }';
    await runQuery(refused, { first: 2 });
    for (const first of [0, -1, 1]) await runQuery(refused, { first });
    expect(linesOf('Refused')).toEqual([['debug', expect.stringContaining('first')]]);
  });

  it('warns of an unexpected fault', async () => {
    allowFallback('a fault of ours');
    const connect = app.database.connect.bind(app.database);
    // Only the operation fails, not what the server does besides, such as storing the last use of a token.
    const failingConnect = () =>
      new Error('asked').stack?.includes('compiled/run/run.ts')
        ? Promise.reject(new TypeError('a fault of ours'))
        : connect();
    const shared = app.database.shared.bind(app.database);
    // The statement must not use a shared connection, as it would if another test has shown it to be quick.
    Object.assign(app.database, { connect: failingConnect, shared: () => undefined });
    const body = await runQuery('query Faulty { issues { nodes { title } } }');
    Object.assign(app.database, { connect, shared });
    expect(body).toEqual({ data: { issues: { nodes: [] } } });
    expect(linesOf('Faulty')).toEqual([['warn', 'a fault of ours']]);
  });
});

describe('a query that costs too much for graphql-js', () => {
  const costly = 'issues(first: 250) { nodes { title labels { name } assignees { displayName } } }';
  const refused: [name: string, query: string, code: string, cause: string][] = [
    [
      'with introspection',
      `{ __schema { queryType { name } } ${costly} }`,
      'QUERY_TOO_COMPLEX',
      'With `Query.__schema` it',
    ],
    [
      'with access tokens',
      `{ accessTokens { nodes { name } } ${costly} }`,
      'QUERY_TOO_COMPLEX',
      'With `AccessTokenConnection.nodes` it',
    ],
    [
      'with an id that is not valid',
      `{ node(id: "garbage") { id } ${costly} }`,
      'QUERY_TOO_COMPLEX',
      'With one of its ids it',
    ],
    [
      'with a refused argument',
      `{ teams(after: "garbage") { totalCount } ${costly} }`,
      'INVALID_REQUEST',
      'after',
    ],
  ];

  it.each(refused)('is refused as a whole %s', async (_name, query, code, cause) => {
    const { body } = await app.graphql(query);
    const message = expect.stringContaining(cause);
    expect(body).toEqual({
      errors: [expect.objectContaining({ message, extensions: expect.objectContaining({ code }) })],
    });
  });

  // A list is never null, so a refused argument of one leaves no data anyway.
  const answered = refused.filter(([, , code]) => code === 'QUERY_TOO_COMPLEX');
  it.each(answered)('is answered %s when it costs less', async (_name, query) => {
    const { body } = await app.graphql<{ issues: object }>(query.replace('first: 250', 'first: 10'));
    expect(body.data?.issues).toEqual({ nodes: [] });
  });
});
