import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { newUuid, encodeId } from '../../src/resolvers/ids.ts';
import { type App, startApp } from '../support/app.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { type IssueWorld, issueWorld } from '../support/issue-world.ts';
import { type Caller, callerOf } from '../support/mutations.ts';
import { hasServer, urlOf } from '../db/engines.ts';
import { untilLockWaits } from '../support/while-locked.ts';
import { uuidOf } from '../support/ids.ts';

// Another process changes reference data, and this server checks writes against its cached copy.
const onPostgres = hasServer ? describe : describe.skip;

onPostgres('a write whose reference data another process has just changed', () => {
  let app: App;
  let world: IssueWorld;
  let ada: Caller;
  let other: pg.Client;

  beforeAll(async () => {
    app = await startApp({ sharesDatabase: true });
    world = await issueWorld(app);
    ada = callerOf(app, world.ada.token);
    other = new pg.Client({ connectionString: await urlOf(app.database) });
    await other.connect();
  });

  afterAll(async () => {
    const broken = await brokenInvariants(app.database);
    await other.end();
    await app.stop();
    expect(broken).toEqual({});
  });

  beforeEach(async () => {
    // Fills the cache with the state before the test.
    await app.graphql('{ teams { nodes { code } } }', {}, { token: world.ada.token });
  });

  const rankOf = async (id: string) => {
    const { rows } = await other.query<{ status_rank: number; rank: number }>(
      'select status_rank, rank from issue join status on status.workspace_id = issue.workspace_id and status.id = status_id where issue.id = $1',
      [uuidOf(id)],
    );
    return rows[0];
  };

  it('accepts a label that is not in its cache yet', async () => {
    const label = newUuid();
    await other.query(
      `insert into label (workspace_id, id, name, name_fold, color, created_utc, updated_utc)
       values ($1, $2, 'New', 'new', '#123456', now(), now())`,
      [world.workspaceId, label],
    );
    const labelIds = [encodeId('label', label)];
    const created = await ada.create({ teamId: world.eng.id, title: 'Labelled', labelIds });
    expect(created).toMatchObject({ labelIds });
  });

  it('accepts a member who has become assignable again', async () => {
    await other.query('update member set status = 2 where user_account_id = $1', [world.suspended.uuid]);
    const primaryAssigneeUserAccountId = world.suspended.id;
    const created = await ada.create({
      teamId: world.eng.id,
      title: 'Back again',
      primaryAssigneeUserAccountId,
    });
    expect(created).toMatchObject({ primaryAssigneeUserAccountId });
  });

  it('uses the new position of a status that has moved', async () => {
    const { eng } = world;
    const { key } = await ada.create({ teamId: eng.id, title: 'To be done' });
    await other.query('update status set position = position + 90 where id = $1', [uuidOf(eng.done)]);
    const done = await ada.update(key, { statusId: eng.done });
    const ranks = await rankOf(done.id);
    expect(ranks?.status_rank).toBe(ranks?.rank);
    await other.query('update status set position = position + 90 where id = $1', [uuidOf(eng.doing)]);
    const doing = await ada.create({ teamId: eng.id, title: 'Doing', statusId: eng.doing });
    const created = await rankOf(doing.id);
    expect(created?.status_rank).toBe(created?.rank);
  });

  it('refuses an issue whose status was deleted, and creates those of the same batch', async () => {
    const { ops } = world;
    await other.query('begin');
    // Taking a number waits for the lock on the team.
    await other.query('select 1 from team where workspace_id = $1 and id = $2 for update', [
      world.workspaceId,
      ops.uuid,
    ]);
    const titled = (title: string) => ({ teamId: ops.id, title });
    const first = ada.create(titled('First'));
    await untilLockWaits(app.database, 1);
    const refused = ada.violationsOf('issueCreate', { ...titled('Nowhere'), statusId: ops.doing });
    const done = Promise.all(['Second', 'Third', 'Fourth'].map((title) => ada.create(titled(title))));
    // Nothing tells when these requests have been checked and wait for the first one.
    await delay(200);
    await other.query('delete from status where id = $1', [uuidOf(ops.doing)]);
    await other.query('commit');
    expect(await refused).toEqual(["statusId: does not belong to the issue's team"]);
    const keys = [await first, ...(await done)].map(({ key }) => key);
    expect(keys.sort()).toEqual(['OPS-1', 'OPS-2', 'OPS-3', 'OPS-4']);
  });

  it('refuses a status that was deleted', async () => {
    const { ops } = world;
    await other.query('delete from status where id = $1', [uuidOf(ops.done)]);
    const input = { teamId: ops.id, title: 'Nowhere', statusId: ops.done };
    expect(await ada.violationsOf('issueCreate', input)).toEqual([
      "statusId: does not belong to the issue's team",
    ]);
  });
});
