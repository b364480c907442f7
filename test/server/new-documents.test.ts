import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { documents } from '../../bench/workloads/documents.ts';
import { hasServer, newServerDatabase, type TemporaryDatabase } from '../db/engines.ts';
import { serve, type Serving, workgraph } from '../cli/workgraph.ts';
import { copyIntoDirectory } from '../support/templates.ts';

/** A server with the default settings, except the time limit of a request, which a busy machine may exceed. */
let server: Serving;
let temporary: TemporaryDatabase | undefined;
let token: string;
const dataDir = mkdtempSync(join(tmpdir(), 'workgraph-new-'));
const busyProcesses: ChildProcess[] = [];

beforeAll(async () => {
  temporary = hasServer ? await newServerDatabase() : undefined;
  if (!temporary) await copyIntoDirectory('migrated', dataDir);
  const env = {
    DATA_DIR: dataDir,
    ...(temporary && 'url' in temporary.location && { DATABASE_URL: temporary.location.url }),
  };
  server = await serve(['--no-demo', '--migrate'], { REQUEST_TIMEOUT_MS: '100000', ...env });
  const made = await workgraph(['workspace', 'create', '--name', 'New', '--json'], env);
  token = (JSON.parse(made.stdout) as { token: string }).token;
  for (const id of ids) for (let n = 0; n < 5; n += 1) await runQuery(documents[id], variables[id]);
  for (let n = 0; n < 2; n += 1)
    busyProcesses.push(spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
});
afterAll(async () => {
  for (const child of busyProcesses) child.kill('SIGKILL');
  await server.end();
  rmSync(dataDir, { recursive: true, force: true });
  await temporary?.remove();
});

const ids = ['W1', 'W2', 'W3'] as const;
/** The queries find few rows, because the test measures the time that it takes to prepare a document. */
const variables = {
  W1: { codes: ['NONE'] },
  W2: { teamId: 'team_01jd3zsrcyfgj97cx2d04ex3w1', before: '2000-01-01T00:00:00Z' },
  W3: { key: 'NONE-1' },
};
let documentCount = 0;

/** Runs a document that the server has never seen: its name, aliases and page sizes are new. */
function runNew() {
  documentCount += 1;
  const id = ids[documentCount % ids.length] as (typeof ids)[number];
  const text = (documents[id] ?? '')
    .replace(/query (\w+)/, `query $1${documentCount}`)
    .replace(/\bkey title\b/, `key title${documentCount}: title`)
    .replace(/first: (\d+)/g, (_, size) => `first: ${Math.max(1, Number(size) - (documentCount % 7))}`);
  return runQuery(text, variables[id]);
}

async function runQuery(query: string | undefined, queryVariables: object) {
  const startedMs = performance.now();
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables: queryVariables }),
  });
  const body = (await response.json()) as { errors?: unknown };
  return { status: response.status, errors: body.errors, tookMs: performance.now() - startedMs };
}

const runKnown = () => runQuery(documents.W3, variables.W3);
const median = (times: readonly number[]) =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? Number.NaN;

it('200 new documents at once are all answered on a busy machine, and a known document waits for at most one of them', async () => {
  const waitsBehindOne: number[] = [];
  for (let n = 0; n < 30; n += 1) {
    const one = runNew();
    waitsBehindOne.push((await runKnown()).tookMs);
    await one;
  }
  let answered = 0;
  const newAnswers = Array.from({ length: 200 }, () => runNew().finally(() => (answered += 1)));
  const waitsBehindMany: number[] = [];
  const knownAnswers: unknown[] = [];
  while (answered < newAnswers.length) {
    const { tookMs, ...answer } = await runKnown();
    knownAnswers.push(answer);
    if (answered < newAnswers.length) waitsBehindMany.push(tookMs);
  }
  const success = { status: 200, errors: undefined };
  for (const answer of knownAnswers) expect(answer).toEqual(success);
  for (const answer of await Promise.all(newAnswers)) expect(answer).toMatchObject(success);
  // If known documents waited for all new ones, two or three of them would have been answered meanwhile. How many more there are
  // depends on how much processor time this process gets, beside the server and the busy processes.
  expect(waitsBehindMany.length).toBeGreaterThan(4);
  expect(median(waitsBehindMany)).toBeLessThan(3 * median(waitsBehindOne));
});
