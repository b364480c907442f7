import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type App, startApp } from '../support/app.ts';
import { numberAll } from './logged.ts';

const run = promisify(execFile);
const page = readFileSync(join(import.meta.dirname, '../../docs/live.md'), 'utf8');
const fenced = (language: string) =>
  Array.from(page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\\n\`\`\``, 'gs')), ([, text = '']) => text);

let app: App;
beforeAll(async () => {
  app = await startApp({ demo: true, settings: { CHANGES_WAIT_MS: '25000' } });
  await numberAll(app.database);
}, 120_000);
afterAll(() => app.stop());

interface Page {
  results: Record<string, unknown>[];
  cursor: string;
}

it('the server answers each command of docs/live.md as the page says, in the order of the page', async () => {
  const names: Record<string, string> = { URL: app.url, TOKEN: app.token };
  const commands = fenced('sh');
  expect(commands.length).toBeGreaterThan(2);
  for (const command of commands) {
    const { stdout } = await run('sh', ['-ec', command], { env: { ...process.env, ...names } });
    const { results, cursor } = JSON.parse(stdout) as Page;
    expect([command, results.length > 0]).toEqual([command, true]);
    // The page waits at the end of the log.
    names.CURSOR = command.includes('$CURSOR') ? await newest() : cursor;
  }
}, 60_000);

it('an answer of REST has the fields that the page shows', async () => {
  const [shown = ''] = fenced('json');
  const { body } = await app.request<Page>('GET', '/v1/changes?page_size=1');
  const example = JSON.parse(shown) as Page;
  expect(Object.keys(example)).toEqual(Object.keys(body));
  expect(Object.keys(example.results[0] ?? {})).toEqual(Object.keys(body.results[0] ?? {}));
});

it('the server answers each query of the page', async () => {
  const queries = fenced('graphql');
  expect(queries).toHaveLength(2);
  for (const query of queries) expect((await app.graphql(query)).body.errors).toBeUndefined();
});

it('the loop of the page hears of a change, and says when its cursor has expired', async () => {
  const [code = ''] = fenced('js');
  const { follow } = (await import(
    `data:text/javascript,${encodeURIComponent(`${code}\nexport { follow };`)}`
  )) as { follow: Follow };
  const heard = Promise.withResolvers<Record<string, unknown>>();
  const stop = new Error('enough');
  const following = follow(app.url, app.token, await newest(), (change) => {
    heard.resolve(change);
    throw stop;
  });
  const ended = following.catch((error: unknown) => error);
  await app.graphql(
    'mutation { commentCreate(input: { issueKey: "WEB-2", body: "Hi" }) { comment { id } } }',
  );
  expect(await heard.promise).toMatchObject({ eventType: 'issue-comment.created.v1', issueKey: 'WEB-2' });
  expect(await ended).toBe(stop);
  expect(await follow(app.url, app.token, 'c1-1-zzz', () => undefined)).toBe('read the lists again');
});

it('the stream of the page hears of a change', async () => {
  const [, code = ''] = fenced('js');
  const { stream } = (await import(
    `data:text/javascript,${encodeURIComponent(`${code}\nexport { stream };`)}`
  )) as { stream: Stream };
  const events = stream(app.url, app.token, await newest());
  const heard = events.next();
  await app.graphql(
    'mutation { commentCreate(input: { issueKey: "WEB-3", body: "Hi" }) { comment { id } } }',
  );
  expect(await heard).toMatchObject({ value: { eventType: 'issue-comment.created.v1', issueKey: 'WEB-3' } });
  await events.return(undefined);
});

type Stream = (
  url: string,
  token: string,
  cursor: string,
) => AsyncGenerator<Record<string, unknown>, undefined, undefined>;

type Follow = (
  url: string,
  token: string,
  cursor: string,
  onChange: (change: Record<string, unknown>) => void,
) => Promise<string>;

async function newest(): Promise<string> {
  await numberAll(app.database);
  const { body } = await app.graphql<{ workspace: { changeCursor: string } }>(
    '{ workspace { changeCursor } }',
  );
  return body.data?.workspace.changeCursor ?? '';
}
