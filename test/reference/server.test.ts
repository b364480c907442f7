import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import { referenceChannel } from '../../src/db/engine/engine.ts';
import { leaseMs } from '../../src/reference/memory.ts';
import { type RunningServer, startServer } from '../../src/server/server.ts';
import type { App } from '../support/app.ts';
import { generousAdmission } from '../support/generous-admission.ts';
import { asOtherProcess } from './other-process.ts';
import { hasServer, urlOf } from '../db/engines.ts';

// Tests set the time, so no lease ends by itself: a write of another process becomes visible only for the tested reason.
const onPostgres = hasServer ? describe : describe.skip;

onPostgres('a write of another process', () => {
  let app: App;
  let writer: pg.Client;
  /** Neither server receives signals of background writes of this process, such as the last use of a token. */
  let quiet: RunningServer;
  let listening: RunningServer;
  // A whole number, because the rounding of fractions could make a lease slightly longer.
  let nowMs = Math.ceil(performance.now());

  beforeAll(async () => {
    const { startApp } = await import('../support/app.ts');
    app = await startApp({ demo: true });
    const url = await urlOf(app.database);
    writer = new pg.Client({ connectionString: url });
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
    listening = await start(url);
  });
  beforeEach(async () => {
    // Ends the lease, so that the cache is read again before the test.
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
  /** Repeats the request until the new name is visible. No lease ends meanwhile. */
  const seen = async (name: string) => {
    for (let tries = 0; tries < 200; tries += 1) {
      if ((await nameAt(listening.url)).name === name) return true;
      await delay(50);
    }
    return false;
  };

  it('is visible as soon as the lease ends', async () => {
    await rename('Leased');
    expect((await nameAt(quiet.url)).name).not.toBe('Leased');
    nowMs += leaseMs;
    expect((await nameAt(quiet.url)).name).toBe('Leased');
  });

  it('is visible to a client that has seen its version on another server', async () => {
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

  it('of a token’s revocation takes effect when the lease ends', async () => {
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
    'of %s that an issue refers to is visible, although the cache does not contain it',
    async (_what, fields, sql, expected) => {
      const { rows } = await writer.query<{ id: string }>(sql, [newUuid()]);
      const key = encodeId('issue', rows[0]?.id ?? '');
      const found = await ask(quiet.url, `{ issue(key: "${key}") ${fields} }`);
      expect(found.body).toMatchObject({ data: { issue: expected } });
    },
  );

  it('is visible at once on a server that listens', async () => {
    await nameAt(listening.url);
    await rename('Heard');
    // A process of ours sends this after its commit (see listener.test.ts).
    await writer.query(`select pg_notify('${referenceChannel}', 'written')`);
    expect(await seen('Heard')).toBe(true);
  });

  it('that a server missed is visible once it listens again', async () => {
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
