import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { StorageFullError, StorageUnavailableError } from '../../src/storage/storage.ts';
import { DatabaseUnavailableError } from '../../src/db/engine/unavailable.ts';
import { causeOf, maskedError } from '../../src/executor/answers/errors.ts';
import { AppError } from '../../src/resolvers/errors.ts';
import { type App, startApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { logInto } from '../support/log-into.ts';

const lines: Record<string, unknown>[] = [];
const log = logInto(lines);

let app: App;
beforeAll(async () => {
  app = await startApp({ logLevel: 'info', log });
  expect((await app.request('GET', '/v1/teams')).status).toBe(200);
});
afterAll(() => app.stop());

/** Sends a request while every use of the database fails with this error, and returns its status and its log lines. */
async function requestWhileFailing(
  failure: Error,
  method: string,
  path: string,
  { body, accept }: { body?: unknown; accept?: string } = {},
) {
  const connect = app.database.connect.bind(app.database);
  const shared = app.database.shared.bind(app.database);
  const ping = app.database.ping.bind(app.database);
  const fail = () => Promise.reject(failure);
  // The compiled executor takes connections, the graphql-js executor has Kysely take them.
  const originalOf = app.database.of.bind(app.database);
  const failingOf = (workspaceId: string) =>
    originalOf(workspaceId).withPlugin({
      transformQuery: () => {
        throw failure;
      },
      transformResult: async ({ result }) => result,
    });
  // Statements that are known to be quick from an earlier test file would otherwise use a shared connection.
  Object.assign(app.database, { connect: fail, shared: () => undefined, ping: fail, of: failingOf });
  const requestId = `outage-${lines.length}`;
  try {
    const headers = { 'x-request-id': requestId, ...(accept && { accept }) };
    const answer = await app.request(method, path, { headers, ...(body !== undefined && { body }) });
    const ownLines = () => lines.filter((line) => line.requestId === requestId);
    await eventually(() => ownLines().some((line) => 'status' in line));
    return { status: answer.status, body: JSON.stringify(answer.body), lines: ownLines() };
  } finally {
    Object.assign(app.database, { connect, shared, ping, of: originalOf });
  }
}

const query = { query: '{ issues { totalCount } }' };
const unavailableMessage = 'PostgreSQL at db:5432 is unavailable: the connection was refused.';
const refusedConnection = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
const lockTimeout = Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });
const diskFull = Object.assign(new Error('could not extend file: No space left on device'), {
  code: '53100',
});

it.each([
  [
    'what it lost',
    new DatabaseUnavailableError(unavailableMessage, { cause: refusedConnection }),
    `${unavailableMessage} (ECONNREFUSED)`,
  ],
  ['a lock', lockTimeout, 'canceling statement due to lock timeout (55P03)'],
  ['the store', new StorageUnavailableError('The store is silent.'), 'The store is silent.'],
])('the log names the cause once, in the line of the request: %s', async (_what, error, cause) => {
  for (const [method, path, sent] of [
    ['GET', '/v1/issues'],
    ['GET', '/v1/changes', { accept: 'text/event-stream' }],
    ['POST', '/graphql', { body: query }],
  ] as const) {
    const result = await requestWhileFailing(error, method, path, sent);
    expect(result.body).not.toContain(cause);
    expect(result).toMatchObject({ status: 503, lines: [{ level: 40, path, status: 503, cause }] });
  }
});

it('the log names the cause of a full disk, and none for other errors', () => {
  expect(causeOf(diskFull)).toBe('could not extend file: No space left on device (53100)');
  expect(causeOf(new StorageFullError('The disk is full.'))).toBe('The disk is full.');
  for (const other of [new AppError('not_found', 'Nothing.'), maskedError, new TypeError('a bug')])
    expect(causeOf(other)).toBeUndefined();
});

it('a node of Citus whose disk is full is no bug, although Citus loses its code', async () => {
  const message = 'could not append to received file: No space left on device';
  const fullNode = Object.assign(new Error(message), { code: 'XX000' });
  const cause = `${message} (XX000)`;
  const result = await requestWhileFailing(fullNode, 'POST', '/graphql', { body: query });
  expect(result.body).toContain('"code":"INSUFFICIENT_STORAGE"');
  expect(result).toMatchObject({ lines: [{ path: '/graphql', cause }] });
  expect(causeOf(Object.assign(new Error('cache lookup failed'), { code: 'XX000' }))).toBeUndefined();
});

it('the log says why the server is not ready', async () => {
  const result = await requestWhileFailing(
    new DatabaseUnavailableError(unavailableMessage),
    'GET',
    '/readyz',
  );
  expect(result).toMatchObject({
    status: 503,
    lines: [{ level: 40, path: '/readyz', cause: unavailableMessage }],
  });
});

it('the log names no cause when nothing is wrong with the service', async () => {
  const headers = { 'x-request-id': 'absent' };
  expect((await app.request('GET', '/v1/teams/NONE', { headers })).status).toBe(404);
  const [line] = lines.filter(({ requestId }) => requestId === 'absent');
  expect(line).toMatchObject({ status: 404 });
  expect(line).not.toHaveProperty('cause');
});
