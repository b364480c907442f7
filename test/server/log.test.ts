import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { readConfig } from '../../src/server/config.ts';
import { type RunningServer, startServer } from '../../src/server/server.ts';
import { type App, startApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';

const lines: Record<string, unknown>[] = [];
const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });

let app: App;
let server: RunningServer;
beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
  const config = readConfig({ PORT: '0', SLOW_STATEMENT_MS: '1' }, {});
  // Each statement takes longer than 0 ms, so each has a line.
  server = await startServer({ database: app.database, config: { ...config, slowStatementMs: 0 }, logger });
});
afterAll(async () => {
  await server.stop();
  await app.stop();
});

/** Sends a request, and returns its log lines and the headers of its answer. */
async function requestAndLines(path: string, headers: Record<string, string>) {
  const requestId = `log-${lines.length}`;
  const answer = await fetch(new URL(path, server.url), {
    headers: { Authorization: `Bearer ${app.token}`, 'X-Request-Id': requestId, ...headers },
  });
  await answer.text();
  const isLast = (line: Record<string, unknown>) => line.requestId === requestId && 'status' in line;
  await eventually(() => lines.some(isLast));
  return { headers: answer.headers, lines: lines.filter((line) => line.requestId === requestId) };
}

it('the log names the request and the text of a slow statement, but none of its values', async () => {
  const requestLines = await requestAndLines('/v1/issues/SECRET-1', {});
  const statements = requestLines.lines.filter(({ sql }) => sql !== undefined);
  expect(statements.length).toBeGreaterThan(0);
  expect(statements.at(-1)).toMatchObject({
    level: 40,
    operation: 'Issue',
    sql: expect.stringMatching(/select .* from "issue"/),
    ms: expect.any(Number),
    failed: false,
  });
  expect(JSON.stringify(statements)).not.toContain('SECRET');
  expect(JSON.stringify(statements)).not.toContain(app.workspaceId);
});

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';

it.each([
  ['as version 00 has it', `00-${traceId}-${parentId}-01`, '01'],
  ['with flags of later versions', `00-${traceId}-${parentId}-ff`, '01'],
  ['not sampled', `00-${traceId}-${parentId}-00`, '00'],
  ['of a later version with more in it', `cc-${traceId}-${parentId}-01-what-the-future-will-be-like`, '01'],
])('a log line continues the trace of a traceparent %s', async (_what, traceparent, flags) => {
  const { headers, lines: requestLines } = await requestAndLines('/v1/issues', { traceparent });
  expect(requestLines.length).toBeGreaterThan(1);
  const [spanId] = new Set(requestLines.map((line) => String(line.spanId)));
  expect(spanId).toMatch(/^[\da-f]{16}$/);
  for (const line of requestLines) expect(line).toMatchObject({ traceId, parentId, spanId });
  expect(headers.get('traceresponse')).toBe(`00-${traceId}-${spanId}-${flags}`);
});

it.each([
  ['of an invalid version', `ff-${traceId}-${parentId}-01`],
  ['with more than version 00 has', `00-${traceId}-${parentId}-01-more`],
  ['in capitals', `00-${traceId.toUpperCase()}-${parentId}-01`],
  ['of no trace', `00-${'0'.repeat(32)}-${parentId}-01`],
  ['of no parent', `00-${traceId}-${'0'.repeat(16)}-01`],
  ['too short', `00-${traceId.slice(1)}-${parentId}-01`],
  ['given twice', `00-${traceId}-${parentId}-01, 00-${traceId}-${parentId}-01`],
  ['that is something else', 'x'.repeat(5_000)],
])('a log line has no trace for a traceparent %s', async (_what, traceparent) => {
  const { headers, lines: requestLines } = await requestAndLines('/v1/issues', { traceparent });
  for (const line of requestLines) expect(line).not.toHaveProperty('traceId');
  expect(headers.get('traceresponse')).toBeNull();
  expect(headers.get('x-request-id')).not.toBeNull();
});
