import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OperationTypeNode, parse } from 'graphql';
import { pino } from 'pino';
import { documents as benchmark } from '../../bench/workloads/documents.ts';
import { compileOperation } from '../../src/executor/compiled/compile.ts';
import { chooseOperation, fragmentsOf } from '../../src/executor/execute.ts';
import { table } from '../../src/rest-compat/table.ts';
import { schema } from '../../src/schema/index.ts';
import { readConfig } from '../../src/server/config.ts';
import { type RunningServer, startServer } from '../../src/server/server.ts';
import { type Answer, type App, startApp } from '../support/app.ts';

let app: App;
beforeAll(async () => {
  app = await startApp({ settings: { EXECUTOR: 'compiled' } });
}, 60_000);
afterAll(() => app.stop());

describe('no fallback is', () => {
  const folder = join(import.meta.dirname, '../../docs/queries');
  const queries = readdirSync(folder).map(
    (file) => [file, readFileSync(join(folder, file), 'utf8')] as const,
  );
  const operations = [
    ...queries.map(([file, text]) => [`docs/queries/${file}`, parse(text)] as const),
    ...Object.entries(benchmark).map(([id, text]) => [`${id} of the benchmark`, parse(text)] as const),
    ...table.map(({ method, path, document }) => [`${method} ${path}`, document] as const),
  ].filter(([, document]) => chooseOperation(document, undefined).operation === OperationTypeNode.QUERY);

  it.each(operations)('%s', (_name, document) => {
    const operation = chooseOperation(document, undefined);
    const compile = () => compileOperation(schema, operation, fragmentsOf(document), {});
    expect(compile).not.toThrow();
  });
});

describe('queries that only graphql-js can answer', () => {
  /** Introspection has no plan; readiness waits for the data store. */
  const fallback = '{ __schema { queryType { name } } readiness { status } }';

  it('run 8 at once, 100 wait, and the next is refused', async () => {
    let pings = 0;
    let answerPings = () => {};
    const answered = new Promise<void>((resolve) => {
      answerPings = resolve;
    });
    const ping = app.database.ping.bind(app.database);
    const held = async () => {
      pings += 1;
      await answered;
    };
    Object.assign(app.database, { ping: held });
    const asked = Array.from({ length: 109 }, () => app.graphql(fallback));
    const refused = await Promise.race([...asked, delay(20_000, undefined, { ref: false })]);
    expect(refused?.status).toBe(503);
    expect(refused?.headers.get('retry-after')).toBe('1');
    expect(refused?.body).toMatchObject({
      errors: [{ message: expect.stringContaining('are waiting'), extensions: { code: 'UNAVAILABLE' } }],
    });
    expect(pings).toBe(8);
    // Nobody else waits for them.
    expect((await app.graphql('{ teams { totalCount } }')).body).toEqual({
      data: { teams: { totalCount: 0 } },
    });
    answerPings();
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(108);
    expect(pings).toBe(108);
    Object.assign(app.database, { ping });
    expect((await app.graphql(fallback)).status).toBe(200);
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

  const ask = async (query: string, variables = {}): Promise<Answer['body']> => {
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${app.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
    return response.json();
  };
  const told = (operation: string) =>
    lines
      .filter((line) => line.msg.startsWith('graphql-js answers') && line.operation === operation)
      .map(({ level, err }) => [pino.levels.labels[level], err?.message]);

  it('says once of each operation why it is left to graphql-js', async () => {
    const query = 'query Described { __schema { queryType { name } } }';
    await ask(query);
    await ask(query);
    expect(told('Described')).toEqual([['debug', 'Query.__schema']]);
    const refused = 'query Refused($first: Int) { teams(first: $first) { totalCount } }';
    for (const first of [0, -1, 1]) await ask(refused, { first });
    expect(told('Refused')).toEqual([['debug', expect.stringContaining('first')]]);
  });

  it('warns of what nobody expected', async () => {
    const connect = app.database.connect.bind(app.database);
    // For the operation alone, not for what is checked or kept beside it.
    const failing = () =>
      new Error('asked').stack?.includes('compiled/run.ts')
        ? Promise.reject(new TypeError('a fault of ours'))
        : connect();
    Object.assign(app.database, { connect: failing });
    const body = await ask('query Faulty { issues { nodes { title } } }');
    Object.assign(app.database, { connect });
    expect(body).toEqual({ data: { issues: { nodes: [] } } });
    expect(told('Faulty')).toEqual([['warn', 'a fault of ours']]);
  });
});
