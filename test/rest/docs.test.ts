import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type App, startApp } from '../support/app.ts';

const run = promisify(execFile);
const page = readFileSync(join(import.meta.dirname, '../../docs/rest.md'), 'utf8');

/** The examples of the page: commands with the documented status. */
const examples = Array.from(page.matchAll(/```sh\n(.*?)\n# (\d{3})\n```/gs), ([, command = '', status]) => ({
  command,
  status,
}));

let app: App;
beforeAll(async () => {
  app = await startApp({ demo: true });
});
afterAll(() => app.stop());

it('the server answers each example of docs/rest.md as the page says, in the order of the page', async () => {
  expect(examples.length).toBeGreaterThan(8);
  const names: Record<string, string> = { URL: app.url, TOKEN: app.token };
  for (const { command, status } of examples) {
    // Makes curl print the status at the end.
    const shell = command.replace('curl -s', `curl -s -w '\\n%{http_code}'`);
    const { stdout } = await run('sh', ['-ec', shell], { env: { ...process.env, ...names } });
    const [body = '', answered] = stdout.split(/\n(?=\d{3}$)/);
    expect([command, answered]).toEqual([command, status]);
    if (answered === '201' && names['KEY'] === undefined)
      names['KEY'] = (JSON.parse(body) as { key: string }).key;
    if (body.startsWith('{"results"') && names['TEAM_ID'] === undefined) {
      const { results } = JSON.parse(body) as { results: { id: string }[] };
      names['TEAM_ID'] = results[0]?.id ?? '';
    }
  }
});

it('the server answers the first requests of the README, of both APIs, as they are printed there', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
  const commands = Array.from(readme.matchAll(/```sh\n(curl -s [^]*?)\n```/g), ([, command = '']) => command);
  expect(commands).toHaveLength(2);
  for (const command of commands) {
    const shell = command.replace('http://127.0.0.1:4000', app.url);
    const { stdout } = await run('sh', ['-ec', shell], { env: { ...process.env, TOKEN: app.token } });
    const { data, results } = JSON.parse(stdout) as { data?: { teams: unknown }; results?: unknown[] };
    expect([command, data?.teams !== undefined || results?.length === 2]).toEqual([command, true]);
  }
});

it('every link of the page leads to an existing page', () => {
  const linked = Array.from(page.matchAll(/\]\(([\w-]+\.md)\)/g), ([, file = '']) => file);
  expect(linked.length).toBeGreaterThan(1);
  for (const file of linked)
    expect(readFileSync(join(import.meta.dirname, '../../docs', file), 'utf8')).not.toBe('');
});
