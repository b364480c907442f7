import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { recountTallies } from '../../src/db/issue-tallies.ts';
import { isGraphqlJs } from '../support/app.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { whileLocked } from '../support/while-locked.ts';
import { hasServer } from '../db/engines.ts';
import { uuidOf } from '../support/ids.ts';

const { app, world, ada } = useIssueWorld();

const create = () => ada.create({ teamId: world.eng.id, title: 'An issue' });

describe('with an answer that needs no further statement', () => {
  const statements = async (mutation: string, selection: string, input: Record<string, unknown>) => {
    const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`;
    const document = `mutation ($input: ${type}!) { ${mutation}(input: $input) { ${selection} { id } } }`;
    const answer = await app.graphql(document, { input }, { token: world.ada.token });
    expect(answer.body.errors).toBeUndefined();
    return answer.statements;
  };

  it('a comment takes one statement, whether it is a reply or not', async () => {
    const { key } = await create();
    const { comment } = await ada.mutate('commentCreate', { issueKey: key, body: 'First' });
    expect(await statements('commentCreate', 'comment', { issueKey: key, body: 'Again' })).toBe(1);
    const reply = { issueKey: key, body: 'Reply', parentCommentId: comment.id };
    expect(await statements('commentCreate', 'comment', reply)).toBe(1);
  });

  it('a new issue takes one statement, whatever it refers to', async () => {
    const { eng, ada: me, bob, apollo, shared } = world;
    const input = {
      teamId: eng.id,
      title: 'With everything',
      projectId: apollo,
      deliveryId: eng.sprint1,
      labelIds: [eng.bug, shared],
      assigneeUserAccountIds: [me.id, bob.id],
      roleAssignments: [{ role: 'Reviewer', userAccountId: bob.id }],
    };
    expect(await statements('issueCreate', 'issue', input)).toBe(1);
  });

  it('a change takes one statement, whatever it refers to', async () => {
    const { key } = await create();
    expect(await statements('issueUpdate', 'issue', { key, title: 'Changed' })).toBe(1);
    expect(await statements('issueUpdate', 'issue', { key, statusId: world.eng.done, priority: 'LOW' })).toBe(
      1,
    );
  });
});

// graphql-js reads each of them by a statement.
(isGraphqlJs ? it.skip : it)('selecting what belongs to an issue takes no further statement', async () => {
  const { eng, bob, shared } = world;
  const shown =
    'key labels { name } labelIds assignees { displayName } roleAssignments { role } isSubscribed';
  const issueAfter = async (mutation: 'issueCreate' | 'issueUpdate', input: Record<string, unknown>) => {
    const type = mutation === 'issueCreate' ? 'IssueCreateInput' : 'IssueUpdateInput';
    const document = `mutation ($input: ${type}!) { ${mutation}(input: $input) { issue { ${shown} } } }`;
    const answer = await app.graphql<Record<string, { issue: Record<string, unknown> }>>(
      document,
      { input },
      { token: world.ada.token },
    );
    expect(answer.statements).toBe(1);
    return answer.body.data?.[mutation]?.issue ?? {};
  };
  const input = {
    teamId: eng.id,
    title: 'New',
    labelIds: [eng.bug, shared],
    assigneeUserAccountIds: [bob.id],
  };
  const created = await issueAfter('issueCreate', input);
  const changed = await issueAfter('issueUpdate', { key: created.key, title: 'Changed' });
  const related = {
    labels: [{ name: 'Bug' }, { name: 'Shared' }],
    assignees: [{ displayName: 'Bob Member' }],
    roleAssignments: [],
    isSubscribed: true,
  };
  expect(created).toMatchObject(related);
  expect(changed).toMatchObject(related);
});

// A change between the start of a statement and its lock takes a second session.
(hasServer ? describe : describe.skip)('a write that had to wait for a lock', () => {
  it('applies to the current state of the issue, and its time is not before the last entry of the feed', async () => {
    const issue = await create();
    await ada.mutate('commentCreate', { issueKey: issue.key, body: 'First' });
    const id = uuidOf(issue.id);
    const settled = await whileLocked(
      app.database,
      (trx) =>
        trx
          .updateTable('issue')
          .set({ lastActivityUtc: sql<Date>`clock_timestamp() + interval '1 hour'` })
          .where('workspaceId', '=', world.workspaceId)
          .where('id', '=', id)
          .execute(),
      () => ada.update(issue.key, { statusId: world.eng.done, title: 'Later' }),
    );
    expect(settled).toMatchObject({ value: { title: 'Later', revision: 2 } });
    await app.database.unscoped
      .updateTable('activity')
      .set({ occurredUtc: sql<Date>`(select last_activity_utc from issue where id = ${id}::uuid)` })
      .where('issueId', '=', id)
      .execute();
    const [first, second] = await ada.feed(issue.key);
    expect(second?.occurredUtc).toBe(first?.occurredUtc);
  });

  it('returns what was added to the issue meanwhile', async () => {
    const issue = await create();
    const { bug } = world.eng;
    const settled = await whileLocked(
      app.database,
      async (trx) => {
        const id = uuidOf(issue.id);
        const label = { workspaceId: world.workspaceId, issueId: id, labelId: uuidOf(bug) };
        await trx.insertInto('issueLabel').values(label).execute();
        await trx
          .updateTable('issue')
          .set((eb) => ({ revision: eb('revision', '+', 1) }))
          .where('workspaceId', '=', world.workspaceId)
          .where('id', '=', id)
          .execute();
      },
      () => ada.update(issue.key, { title: 'Later' }),
    );
    expect(settled).toMatchObject({ value: { title: 'Later', labelIds: [bug] } });
    await recountTallies(app.database.unscoped, world.workspaceId);
  });

  it('answers NOT_FOUND for an issue that was deleted meanwhile', async () => {
    const issue = await create();
    const id = uuidOf(issue.id);
    const settled = await whileLocked(
      app.database,
      async (trx) => {
        await trx
          .updateTable('issue')
          .set({ deletedUtc: sql<Date>`clock_timestamp()` })
          .where('workspaceId', '=', world.workspaceId)
          .where('id', '=', id)
          .execute();
        await trx
          .updateTable('issueStage')
          .set({ deleted: true })
          .where('workspaceId', '=', world.workspaceId)
          .where('issueId', '=', id)
          .execute();
      },
      () => ada.refusalOf('commentCreate', { issueKey: issue.key, body: 'Too late' }),
    );
    expect(settled).toMatchObject({ value: { code: 'NOT_FOUND' } });
    await recountTallies(app.database.unscoped, world.workspaceId);
  });

  it('reports a reference that was deleted between its check and its lock', async () => {
    const { eng } = world;
    const id = uuidOf(eng.doing);
    const settled = await whileLocked(
      app.database,
      (trx) => trx.deleteFrom('status').where('id', '=', id).execute(),
      () => ada.violationsOf('issueCreate', { teamId: eng.id, title: 'Nowhere', statusId: eng.doing }),
    );
    expect(settled).toMatchObject({ value: ["statusId: does not belong to the issue's team"] });
  });
});
