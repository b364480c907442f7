import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import { leaseMs } from '../../src/reference/memory.ts';
import { type RunningServer, startServer } from '../../src/server/server.ts';
import type { App } from '../support/app.ts';
import { generousAdmission } from '../support/generous-admission.ts';
import { asOtherProcess } from './other-process.ts';

// Time stands still, so no lease ends by itself: what another process writes is seen for its own reason or not at all.
const serverUrl = process.env.TEST_DATABASE_URL;
const onPostgres = serverUrl ? describe : describe.skip;

onPostgres('a server beside which another process writes', () => {
  let app: App;
  let writer: pg.Client;
  /** Neither hears what this process writes beside the answers, such as that a token was used. */
  let quiet: RunningServer;
  let listening: RunningServer;
  // A whole number: sums of fractions are rounded, and a lease would seem to last a trifle longer.
  let nowMs = Math.ceil(performance.now());

  beforeAll(async () => {
    const { startApp } = await import('../support/app.ts');
    app = await startApp({ demo: true });
    const lease = await app.database.connect();
    const { rows } = await lease.query<{ name: string }>('select current_database() as name', []);
    lease.release();
    const url = new URL(serverUrl ?? '');
    url.pathname = `/${rows[0]?.name}`;
    writer = new pg.Client({ connectionString: url.href });
    await writer.connect();
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const start = (listenUrl?: string) =>
      startServer({
        database: asOtherProcess(app.database),
        config: {
          host: '127.0.0.1',
          port: 0,
          publicUrl: undefined,
          explorer: true,
          admission: generousAdmission,
          listenUrl,
        },
        logger: pino({ level: 'silent' }),
      });
    quiet = await start();
    listening = await start(url.href);
  }, 60_000);
  beforeEach(async () => {
    // What it remembers is as it was before the test.
    nowMs += leaseMs;
    await nameAt(quiet.url);
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await quiet.stop();
    await listening.stop();
    await writer.end();
    await app.stop();
  });

  const ask = async (url: string, query: string, headers: Record<string, string> = {}) => {
    const response = await fetch(new URL('/graphql', url), {
      method: 'POST',
      headers: { Authorization: `Bearer ${app.token}`, 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ query }),
    });
    const body = (await response.json()) as { data?: { team: { name: string } } };
    return { body, status: response.status, version: response.headers.get('x-workspace-version') };
  };
  const nameAt = async (url: string, headers?: Record<string, string>) => {
    const { body, version } = await ask(url, '{ team(code: "WEB") { name } }', headers);
    return { name: body.data?.team.name, version };
  };
  const rename = (name: string) => writer.query("update team set name = $1 where code = 'WEB'", [name]);
  /** Asks until it is seen; time does not end any lease meanwhile. */
  const seen = async (name: string) => {
    for (let tries = 0; tries < 200; tries += 1) {
      if ((await nameAt(listening.url)).name === name) return true;
      await delay(50);
    }
    return false;
  };

  it('shows it as soon as its lease ends', async () => {
    await rename('Leased');
    expect((await nameAt(quiet.url)).name).not.toBe('Leased');
    nowMs += leaseMs;
    expect((await nameAt(quiet.url)).name).toBe('Leased');
  });

  it('shows it to a client that has seen its version elsewhere', async () => {
    await rename('Seen elsewhere');
    const { rows } = await writer.query<{ version: string }>(
      "select ref || '.' || tag as version from workspace_version where workspace_id = $1",
      [app.workspaceId],
    );
    const [{ version } = { version: '' }] = rows;
    expect((await nameAt(quiet.url)).name).not.toBe('Seen elsewhere');
    const headers = { 'X-Workspace-Version': version };
    expect(await nameAt(quiet.url, headers)).toEqual({ name: 'Seen elsewhere', version });
  });

  it('refuses a token that was revoked there when its lease ends', async () => {
    const token = await app.tokenFor({ scopes: ['teams:read'] });
    const headers = { Authorization: `Bearer ${token}` };
    const status = async () => (await ask(quiet.url, '{ teams { nodes { code } } }', headers)).status;
    expect(await status()).toBe(200);
    await writer.query('update access_token set revoked_utc = now() where scopes = $1', [['teams:read']]);
    nowMs += leaseMs;
    expect(await status()).toBe(401);
  });

  it.each([
    [
      'a project',
      '{ project { name } }',
      `with made as (
         insert into project (workspace_id, id, team_id, key, name, name_fold, slug, status_id, state, status_position)
         select workspace_id, $1, team_id, 'NEW', 'New', 'new', 'new', status_id, state, status_position
         from project limit 1 returning workspace_id, id)
       update issue set project_id = made.id from made
       where issue.id = (select id from issue where deleted_utc is null order by id limit 1)
       returning issue.id`,
      { project: { name: 'New' } },
    ],
    [
      'a label',
      '{ labels { name } }',
      `with made as (
         insert into label (workspace_id, id, name, name_fold, color, created_utc, updated_utc)
         values ((select workspace_id from team limit 1), $1, '  New', '  new', '#123456', now(), now())
         returning workspace_id, id)
       insert into issue_label (workspace_id, issue_id, label_id)
       select made.workspace_id, (select id from issue where deleted_utc is null order by id limit 1), made.id
       from made returning issue_id as id`,
      { labels: expect.arrayContaining([{ name: '  New' }]) },
    ],
  ])(
    'shows %s that an issue refers to and that it does not know yet',
    async (_what, fields, sql, expected) => {
      const { rows } = await writer.query<{ id: string }>(sql, [newUuid()]);
      const key = encodeId('issue', rows[0]?.id ?? '');
      const found = await ask(quiet.url, `{ issue(key: "${key}") ${fields} }`);
      expect(found.body).toMatchObject({ data: { issue: expected } });
    },
  );

  it('shows it at once when it listens', async () => {
    await nameAt(listening.url);
    await rename('Heard');
    expect(await seen('Heard')).toBe(true);
  });

  it('shows what it did not hear once it listens again', async () => {
    await nameAt(listening.url);
    await writer.query('begin');
    await rename('Not heard');
    await writer.query(`
      select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and application_name like 'workgraph listener%'`);
    await writer.query('commit');
    expect(await seen('Not heard')).toBe(true);
  });
});
