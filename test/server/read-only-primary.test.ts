import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { hasServer, onServer, urlOf } from '../db/engines.ts';
import { type App, startApp } from '../support/app.ts';
import { logInto } from '../support/log-into.ts';
import { eventually } from '../support/eventually.ts';
import { issueWorld, type IssueWorld } from '../support/issue-world.ts';

type Line = Record<string, unknown>;

(hasServer ? describe : describe.skip)('a primary that takes no writes', () => {
  const lines: Line[] = [];
  const log = logInto(lines);
  let app: App;
  let world: IssueWorld;
  let name: string;
  beforeAll(async () => {
    app = await startApp({ logLevel: 'info', log });
    world = await issueWorld(app);
    name = new URL(await urlOf(app.database)).pathname.slice(1);
  });
  afterAll(() => app.stop());

  const write = () =>
    app.request('POST', '/v1/issues', {
      token: world.ada.token,
      body: { teamId: world.eng.id, title: 'A write', description: '', priority: 0 },
    });

  it('is answered 503 to writes, reads go on, and writes too as soon as a new connection takes them', async () => {
    expect(await write()).toMatchObject({ status: 201 });
    // Changes that wait for their positions keep the sequencer busy.
    const waiting = sql`
      insert into change_inbox (workspace_id, change_id, event_type, occurred_utc, subject_id, origin)
      select ${app.workspaceId}, gen_random_uuid(), 'import.finished.v1', now(), ${app.workspaceId}, 2
      from generate_series(1, 2100)`;
    await onServer(`alter database ${name} set default_transaction_read_only = on`);
    await waiting.execute(app.database.unscoped);
    await onServer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
    await eventually(async () => (await app.request('GET', '/readyz')).status === 200);
    lines.length = 0;
    for (let time = 0; time < 3; time += 1) {
      const refused = await write();
      expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } });
      expect(refused.headers.get('retry-after')).toBe('1');
      expect((await app.request('GET', '/v1/issues')).status).toBe(200);
      expect((await app.request('GET', '/readyz')).status).toBe(200);
    }
    const refusals = lines.filter(({ status }) => status === 503);
    expect(refusals.map(({ cause }) => cause)).toEqual(
      Array.from({ length: 3 }, () => expect.stringMatching(/ is unavailable: it is read-only\. \(25006\)$/)),
    );
    // The sequencer and the deliverer of webhooks say so once at most.
    const others = lines.filter((line) => Number(line.level) >= 40 && line.status === undefined);
    expect(others.length).toBeLessThanOrEqual(2);
    await onServer(`alter database ${name} reset default_transaction_read_only`);
    await eventually(async () => (await write()).status === 201);
  });
});
