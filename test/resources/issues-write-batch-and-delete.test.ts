import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { parseId } from '../../src/resolvers/ids.ts';
import { callerOf, type IssueRead } from '../support/mutations.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { uuidOf } from '../support/ids.ts';

const { app, world, ada } = useIssueWorld();

function create(input: Record<string, unknown> = {}): Promise<IssueRead> {
  return ada.create({ teamId: world.eng.id, title: 'An issue', ...input });
}

describe('issueBatchUpdate', () => {
  it('applies one change to issues of several teams, with a feed entry for each', async () => {
    const { bob, invited } = world;
    const mine = await create({ primaryAssigneeUserAccountId: invited.id });
    const theirs = await ada.create({ teamId: world.ops.id, title: 'Ops' });
    const { issues } = await ada.mutate('issueBatchUpdate', {
      keys: [theirs.key, mine.id, theirs.id],
      priority: 'URGENT',
      assigneeUserAccountIds: [bob.id, invited.id],
      labelIds: [world.shared],
    });
    expect(issues).toMatchObject([
      {
        key: theirs.key,
        priority: 'URGENT',
        primaryAssigneeUserAccountId: bob.id,
        labelIds: [world.shared],
        revision: 2,
      },
      {
        key: mine.key,
        priority: 'URGENT',
        primaryAssigneeUserAccountId: invited.id,
        assigneeUserAccountIds: [invited.id, bob.id],
      },
    ]);
    expect(await ada.feed(mine.key)).toMatchObject([
      { text: 'Ada Member changed the priority to urgent, the assignees and the labels' },
    ]);
  });

  it('sets closedUtc of the issues that were open and keeps that of the others', async () => {
    const [open, closed] = [await create(), await create()];
    const { closedUtc } = await ada.update(closed.key, { statusId: world.eng.done });
    const { issues } = await ada.mutate('issueBatchUpdate', {
      keys: [open.key, closed.key],
      statusId: world.eng.canceled,
    });
    expect(issues).toMatchObject([{ closedUtc: issues[0]?.updatedUtc }, { closedUtc }]);
  });

  it('changes all issues or none, and names the key at which it fails', async () => {
    const mine = await create();
    const theirs = await ada.create({ teamId: world.ops.id, title: 'Ops' });
    expect(
      await ada.violationsOf('issueBatchUpdate', {
        keys: [mine.key, theirs.key],
        statusId: world.eng.done,
        title: '',
      }),
    ).toEqual(['title: must not be empty', "keys[1].statusId: does not belong to the issue's team"]);
    expect(
      await ada.refusalOf('issueBatchUpdate', { keys: [mine.key, 'ENG-99999', 'x'], title: 'New' }),
    ).toMatchObject({
      code: 'NOT_FOUND',
      errors: [
        { field: 'keys[1]', message: 'does not belong to any issue' },
        { field: 'keys[2]', message: 'does not belong to any issue' },
      ],
    });
    expect(
      await ada.violationsOf('issueBatchUpdate', { keys: [mine.key, theirs.key], parentIssueId: theirs.id }),
    ).toEqual(['keys[1].parentIssueId: would make the issue a part of itself']);
    expect(await ada.read(mine.key)).toMatchObject({ title: 'An issue', revision: 1, parentIssueId: null });
  });

  it('accepts 1 to 50 keys', async () => {
    const many = Array.from({ length: 51 }, (_, index) => `ENG-${index + 1}`);
    for (const keys of [[], many]) {
      expect(await ada.violationsOf('issueBatchUpdate', { keys, title: 'x' })).toEqual([
        'keys: must have 1 to 50 items',
      ]);
    }
  });

  it('takes the same number of statements for 2 issues as for 40', async () => {
    const statements = async (count: number) => {
      const keys: string[] = [];
      for (let index = 0; index < count; index += 1) keys.push((await create()).key);
      const input = {
        keys,
        statusId: world.eng.done,
        labelIds: [world.eng.bug, world.shared],
        assigneeUserAccountIds: [world.bob.id, world.ada.id],
        projectId: world.apollo,
        deliveryId: world.eng.sprint1,
      };
      const query =
        'mutation ($input: IssueBatchUpdateInput!) { issueBatchUpdate(input: $input) { issues { key } } }';
      const answer = await app.graphql(query, { input });
      expect(answer.body.errors).toBeUndefined();
      return answer.statements;
    };
    const [few, many] = [await statements(2), await statements(40)];
    expect(many).toBe(few);
  });
});

describe('issueSubscribe', () => {
  it('subscribes the viewer, and issueUnsubscribe unsubscribes, both idempotently', async () => {
    const { key } = await create();
    const bob = callerOf(app, world.bob.token);
    for (const [name, isSubscribed] of [
      ['issueSubscribe', true],
      ['issueSubscribe', true],
      ['issueUnsubscribe', false],
      ['issueUnsubscribe', false],
    ] as const) {
      expect((await bob.mutate(name, { key })).issue).toMatchObject({ isSubscribed, revision: 1 });
    }
    expect(await ada.feed(key)).toEqual([]);
    expect(await bob.refusalOf('issueSubscribe', { key: 'ENG-99999' })).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('lets a guest, whom a comment subscribes, unsubscribe', async () => {
    const { key } = await create();
    const guest = callerOf(app, world.guest.token);
    await guest.mutate('commentCreate', { issueKey: key, body: 'Hello' });
    expect(await guest.read(key)).toMatchObject({ isSubscribed: true });
    expect((await guest.mutate('issueUnsubscribe', { key })).issue).toMatchObject({ isSubscribed: false });
  });
});

/** Deletes an issue, and returns how many statements that took. */
async function deletion(key: string): Promise<number> {
  const query = 'mutation ($key: String!) { issueDelete(input: { key: $key }) { deletedIssueId } }';
  const { body, statements } = await app.graphql(query, { key }, { token: world.ada.token });
  expect(body.errors).toBeUndefined();
  return statements;
}

describe('issueDelete', () => {
  it('hides the issue and everything that belongs to it', async () => {
    const { key, id } = await create();
    const { comment } = await ada.mutate('commentCreate', { issueKey: key, body: 'Soon gone' });
    const { issueLink } = await ada.mutate('issueLinkCreate', {
      issueKey: key,
      url: 'https://a.test',
      title: 'A',
    });
    expect(await ada.mutate('issueDelete', { key })).toEqual({ deletedIssueId: id });
    expect(await ada.read(key)).toBeNull();
    const absent = { code: 'NOT_FOUND', message: 'There is no such issue.' };
    expect(await ada.refusalOf('issueDelete', { key })).toMatchObject(absent);
    expect(await ada.refusalOf('issueUpdate', { key, title: 'x' })).toMatchObject(absent);
    expect(await ada.refusalOf('issueSubscribe', { key })).toMatchObject(absent);
    expect(await ada.refusalOf('commentCreate', { issueKey: key, body: 'x' })).toMatchObject(absent);
    expect(await ada.refusalOf('commentUpdate', { id: comment.id, body: 'x' })).toMatchObject({
      code: 'NOT_FOUND',
    });
    expect(await ada.refusalOf('issueLinkDelete', { id: issueLink.id })).toMatchObject({ code: 'NOT_FOUND' });
    expect(
      await ada.violationsOf('issueCreate', { teamId: world.eng.id, title: 'x', parentIssueId: id }),
    ).toEqual(['parentIssueId: does not belong to this workspace']);
    const { body } = await app.graphql('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: [id, comment.id, issueLink.id],
    });
    expect(body.data).toEqual({ nodes: [null, null, null] });
  });

  it('lowers the counts of its parent, and gives its sub-issues a null parent', async () => {
    const top = await create();
    const middle = await create({ parentIssueId: top.id });
    const bottom = await create({ parentIssueId: middle.id });
    await ada.mutate('issueDelete', { key: middle.key });
    expect(await ada.read(top.key)).toMatchObject({ subIssueCount: 0 });
    expect(await ada.read(bottom.key)).toMatchObject({ parentIssueId: null, revision: 2 });
  });

  it('works with hundreds of sub-issues, and refuses to work with thousands', async () => {
    const parent = await create();
    const child = await create({ parentIssueId: parent.id });
    const { unscoped } = app.database;
    const { rows } = await sql<{ name: string }>`
      select quote_ident(attname) as name from pg_attribute
      where attrelid = 'issue'::regclass and attnum > 0 and not attisdropped and attgenerated = ''`.execute(
      unscoped,
    );
    const columns = sql.raw(rows.map(({ name }) => name).join(', '));
    const ofChild = sql`from issue where id = ${uuidOf(child.id)}`;
    // They are copied from the first, because creating thousands would take long.
    const copyChild = (count: number) =>
      sql`
      insert into issue (${columns}) select ${columns} from (
        select (jsonb_populate_record(one, jsonb_build_object('id', gen_random_uuid(), 'number', 1002000 - n))).*
        from (select issue.*::issue as one ${ofChild}) first, generate_series(0, ${sql.lit(count - 1)}) n
      ) copies`.execute(unscoped);
    const deleteCopies = (above: number) =>
      sql`delete from issue where number > ${above} and team_id = (select team_id ${ofChild})`.execute(
        unscoped,
      );
    await copyChild(2_000);
    expect(await ada.refusalOf('issueDelete', { key: parent.key })).toMatchObject({
      code: 'CONFLICT',
      message:
        'An issue can be deleted together with 2,000 sub-issues at most, and this one has 2,001, ' +
        'including deleted ones. Move some of them to another parent first.',
    });
    await deleteCopies(1_000_600);
    const single = await create();
    await create({ parentIssueId: single.id });
    // 601 sub-issues are changed by one statement more than a single one, because a statement changes 500.
    expect((await deletion(parent.key)) - (await deletion(single.key))).toBe(1);
    const parents = async () => {
      const found = await sql<{ parent: string | null; count: number }>`
        select parent_issue_id as parent, count(*)::int from issue
        where number > 1000000 and team_id = (select team_id ${ofChild}) group by 1`.execute(unscoped);
      return found.rows;
    };
    expect(await parents()).toEqual([{ parent: null, count: 600 }]);
    await copyChild(1_400);
    expect(await ada.refusalOf('issueRestore', { key: parent.key })).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('can be restored together with 2,000 sub-issues at most'),
    });
    await deleteCopies(1_000_600);
    await ada.mutate('issueRestore', { key: parent.key });
    expect(await parents()).toEqual([{ parent: uuidOf(parent.id), count: 600 }]);
    expect(await ada.read(child.key)).toMatchObject({ parentIssueId: parent.id });
    await deleteCopies(1_000_000);
    // A trigger has counted those that were removed.
    await sql`update team_counter set gone_issue_count = gone_issue_count - 3400 where team_id = (select team_id ${ofChild})`.execute(
      unscoped,
    );
    await sql`update issue set sub_issue_count = 1 where id = ${uuidOf(parent.id)}`.execute(unscoped);
  });

  it('does not free its number for another issue', async () => {
    const { key } = await create();
    await ada.mutate('issueDelete', { key });
    expect((await create()).key).not.toBe(key);
  });

  it('refuses guests', async () => {
    const { key } = await create();
    const guest = callerOf(app, world.guest.token);
    for (const name of ['issueDelete', 'issueRestore'] as const) {
      expect(await guest.refusalOf(name, { key })).toMatchObject({ code: 'FORBIDDEN' });
    }
  });
});

describe('issueRestore', () => {
  it('restores the issue with its content, its parent and its sub-issues', async () => {
    const top = await create();
    const middle = await create({
      parentIssueId: top.id,
      projectId: world.apollo,
      deliveryId: world.eng.sprint1,
      estimateValue: 2,
    });
    const bottom = await create({ parentIssueId: middle.id });
    const gone = await create({ parentIssueId: middle.id });
    await ada.mutate('issueDelete', { key: gone.key });
    const before = await ada.read(middle.key);
    await ada.mutate('issueDelete', { key: middle.key });
    const { issue } = await ada.mutate('issueRestore', { key: middle.key });
    expect(issue).toEqual({ ...before, revision: expect.any(Number) });
    expect(issue.subIssueCount).toBe(1);
    expect(await ada.read(top.key)).toMatchObject({ subIssueCount: 1 });
    expect(await ada.read(bottom.key)).toMatchObject({ parentIssueId: middle.id });
    await ada.mutate('issueRestore', { key: gone.id });
    expect(await ada.read(middle.key)).toMatchObject({ subIssueCount: 2 });
  });

  it('does not take back sub-issues whose parent was changed or cleared meanwhile', async () => {
    const [old, other] = [await create(), await create()];
    const [moved, freed] = [await create({ parentIssueId: old.id }), await create({ parentIssueId: old.id })];
    await ada.mutate('issueDelete', { key: old.key });
    await ada.update(moved.key, { parentIssueId: other.id });
    await ada.update(freed.key, { parentIssueId: null });
    expect((await ada.mutate('issueRestore', { key: old.key })).issue).toMatchObject({ subIssueCount: 0 });
    expect(await ada.read(moved.key)).toMatchObject({ parentIssueId: other.id });
    expect(await ada.read(freed.key)).toMatchObject({ parentIssueId: null });
  });

  it('creates no cycle when a former sub-issue has become an ancestor', async () => {
    const top = await create();
    const middle = await create({ parentIssueId: top.id });
    const bottom = await create({ parentIssueId: middle.id });
    await ada.mutate('issueDelete', { key: middle.key });
    await ada.update(top.key, { parentIssueId: bottom.id });
    expect((await ada.mutate('issueRestore', { key: middle.key })).issue).toMatchObject({
      parentIssueId: top.id,
      subIssueCount: 0,
    });
    expect(await ada.read(bottom.key)).toMatchObject({ parentIssueId: null, subIssueCount: 1 });
  });

  it('restores a deleted parent and its deleted sub-issue in either order', async () => {
    const top = await create();
    const bottom = await create({ parentIssueId: top.id });
    await ada.mutate('issueDelete', { key: top.key });
    await ada.mutate('issueDelete', { key: bottom.key });
    expect((await ada.mutate('issueRestore', { key: bottom.key })).issue).toMatchObject({
      parentIssueId: null,
    });
    expect((await ada.mutate('issueRestore', { key: top.key })).issue).toMatchObject({ subIssueCount: 1 });
    expect(await ada.read(bottom.key)).toMatchObject({ parentIssueId: top.id });
  });

  it('does not change an issue that is not deleted', async () => {
    const { key } = await create();
    expect((await ada.mutate('issueRestore', { key })).issue).toMatchObject({ revision: 1 });
  });

  it('answers NOT_FOUND after 30 days', async () => {
    const [late, early] = [await create(), await create()];
    const deleteBefore = async (key: string, days: number) => {
      const { deletedIssueId } = await ada.mutate('issueDelete', { key });
      const parsed = parseId(deletedIssueId);
      const deletedUtc = new Date(Date.now() - days * 86_400_000);
      await app.database.unscoped
        .updateTable('issue')
        .set({ deletedUtc })
        .where('workspaceId', '=', world.workspaceId)
        .where('id', '=', parsed?.uuid ?? '')
        .execute();
    };
    await deleteBefore(late.key, 30.001);
    await deleteBefore(early.key, 29.999);
    expect(await ada.refusalOf('issueRestore', { key: late.key })).toMatchObject({ code: 'NOT_FOUND' });
    expect((await ada.mutate('issueRestore', { key: early.key })).issue).toMatchObject({ key: early.key });
  });
});
