import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { issuesWithoutIdArrays } from '../../src/resolvers/housekeeping.ts';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import { tidy } from '../../src/server/janitor.ts';
import { team } from '../support/fixtures.ts';
import { issueWorld } from '../support/issue-world.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { callerOf, type IssueRead } from '../support/mutations.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';

const { app, world, ada } = useIssueWorld();

describe('issueCreate', () => {
  it('returns the whole issue, in the initial status, without activity and not closed', async () => {
    const issue = await ada.create({ teamId: world.eng.id, title: '  A first issue ' });
    expect(issue).toMatchObject({
      key: 'ENG-1',
      title: 'A first issue',
      description: '',
      statusId: world.eng.todo,
      priority: 'NONE',
      reporterUserAccountId: world.ada.id,
      parentIssueId: null,
      primaryAssigneeUserAccountId: null,
      assigneeUserAccountIds: [],
      labelIds: [],
      roleAssignments: [],
      commentCount: 0,
      subIssueCount: 0,
      linkCount: 0,
      lastActivityUtc: null,
      lastCommentUtc: null,
      closedUtc: null,
      isSubscribed: true,
      revision: 1,
    });
    expect(issue.updatedUtc).toBe(issue.createdUtc);
    expect(await ada.feed(issue.key)).toEqual([]);
  });

  it('sets every field, ignores duplicates, and lists the primary assignee first', async () => {
    const parent = await ada.create({ teamId: world.ops.id, title: 'Parent in another team' });
    const { bob, eng } = world;
    const issue = await ada.create({
      teamId: eng.id,
      title: 'Everything',
      description: 'Long\ntext',
      priority: 'URGENT',
      parentIssueId: parent.id,
      projectId: world.apollo,
      deliveryId: eng.sprint1,
      statusId: eng.doing,
      estimateValue: 5,
      dueDate: '2028-02-29',
      primaryAssigneeUserAccountId: bob.id,
      assigneeUserAccountIds: [world.invited.id, bob.id, world.invited.id],
      labelIds: [eng.bug, world.shared, eng.bug],
      roleAssignments: [{ role: ' reviewer ', userAccountId: world.guest.id }],
    });
    expect(issue).toMatchObject({
      description: 'Long\ntext',
      priority: 'URGENT',
      parentIssueId: parent.id,
      projectId: world.apollo,
      deliveryId: eng.sprint1,
      statusId: eng.doing,
      estimateValue: 5,
      dueDate: '2028-02-29',
      primaryAssigneeUserAccountId: bob.id,
      assigneeUserAccountIds: [bob.id, world.invited.id],
      labelIds: [eng.bug, world.shared],
      roleAssignments: [{ role: 'reviewer', userAccountId: world.guest.id, displayName: 'Gus Guest' }],
    });
    expect(await ada.read(parent.key)).toMatchObject({
      subIssueCount: 1,
      revision: 1,
      lastActivityUtc: null,
    });
    expect(await callerOf(app, bob.token).read(issue.key)).toMatchObject({ isSubscribed: true });
    expect(await callerOf(app, world.admin.token).read(issue.key)).toMatchObject({ isSubscribed: false });
  });

  it('does not set closedUtc, even in a terminal status', async () => {
    const issue = await ada.create({ teamId: world.eng.id, title: 'Born done', statusId: world.eng.done });
    expect(issue).toMatchObject({ statusId: world.eng.done, closedUtc: null });
  });

  it('makes the first of a list of assignees the primary one', async () => {
    const assigneeUserAccountIds = [world.bob.id, world.ada.id];
    const issue = await ada.create({ teamId: world.eng.id, title: 'Two', assigneeUserAccountIds });
    expect(issue).toMatchObject({ primaryAssigneeUserAccountId: world.bob.id, assigneeUserAccountIds });
  });

  it('measures a title in code points and not in UTF-16 units', async () => {
    const title = '🐞'.repeat(255);
    expect(await ada.create({ teamId: world.eng.id, title })).toMatchObject({ title });
    expect(await ada.violationsOf('issueCreate', { teamId: world.eng.id, title: `${title}🐞` })).toEqual([
      'title: must have at most 255 characters',
    ]);
  });

  it('uses no number when it is refused', async () => {
    const before = await ada.create({ teamId: world.ops.id, title: 'Before' });
    await ada.refusalOf('issueCreate', { teamId: world.ops.id, title: ' ' });
    await ada.refusalOf('issueCreate', {
      teamId: world.ops.id,
      title: 'x',
      projectId: encodeId('project', newUuid()),
    });
    const after = await ada.create({ teamId: world.ops.id, title: 'After' });
    const numberOf = ({ key }: { key: string }) => Number(key.split('-')[1]);
    expect(numberOf(after)).toBe(numberOf(before) + 1);
  });

  it('reports all bad fields at once, both malformed values and unknown references', async () => {
    expect(
      await ada.violationsOf('issueCreate', {
        teamId: world.eng.id,
        title: ' \n ',
        description: 'NUL \0 inside',
        estimateValue: -1,
        statusId: world.ops.todo,
        deliveryId: world.ops.sprint1,
        labelIds: [world.ops.bug, world.group, encodeId('label', newUuid()), world.eng.id],
        projectId: world.eng.id,
        parentIssueId: encodeId('issue', newUuid()),
        primaryAssigneeUserAccountId: world.suspended.id,
        assigneeUserAccountIds: [world.bob.id, world.removed.id],
        roleAssignments: [{ role: 'x'.repeat(51), userAccountId: world.removed.id }],
      }),
    ).toEqual([
      'title: must not be white space alone',
      'description: must not contain NUL or half a surrogate pair',
      'projectId: expected a project id, got a team id',
      'estimateValue: must be a whole number from 0 to 2147483647',
      'labelIds: item 4: expected a label id, got a team id',
      'roleAssignments[0].role: must have at most 50 characters',
      'parentIssueId: does not belong to this workspace',
      'primaryAssigneeUserAccountId: is not a member of this workspace who can be assigned',
      'assigneeUserAccountIds: item 2 is not a member of this workspace who can be assigned',
      'roleAssignments[0].userAccountId: is not a member of this workspace who can be assigned',
      "statusId: does not belong to the issue's team",
      "deliveryId: does not belong to the issue's team",
      "labelIds: item 1 is not a label of this workspace or of the issue's team",
      "labelIds: item 2 is not a label of this workspace or of the issue's team",
      "labelIds: item 3 is not a label of this workspace or of the issue's team",
    ]);
  });

  it.each([
    ['a lone surrogate', { title: 'half \ud800' }, 'title: must not contain NUL or half a surrogate pair'],
    [
      'a byte-order mark',
      { description: '\ufeffmark' },
      'description: must not begin with a byte-order mark',
    ],
    [
      'a long description',
      { description: 'x'.repeat(100_001) },
      'description: must have at most 100000 characters',
    ],
    [
      '51 labels',
      { labelIds: Array.from({ length: 51 }, () => encodeId('label', newUuid())) },
      'labelIds: must have at most 50 different items',
    ],
    [
      '51 role assignments',
      {
        roleAssignments: Array.from({ length: 51 }, () => ({
          role: 'reviewer',
          userAccountId: encodeId('user', newUuid()),
        })),
      },
      'roleAssignments: must have at most 50 items',
    ],
    [
      'something that is not an id',
      { parentIssueId: 'ENG-1' },
      'parentIssueId: expected an issue id, got something that is not an id',
    ],
  ])('refuses %s', async (_what, input, violation) => {
    expect(await ada.violationsOf('issueCreate', { teamId: world.eng.id, title: 'x', ...input })).toContain(
      violation,
    );
  });

  it('requires a status if the team has no initial one', async () => {
    const { workspaceId } = world;
    const { id } = await team(app.database, workspaceId);
    await app.database.unscoped
      .updateTable('status')
      .set({ isInitial: false })
      .where('workspaceId', '=', workspaceId)
      .where('teamId', '=', id)
      .execute();
    expect(await ada.violationsOf('issueCreate', { teamId: encodeId('team', id), title: 'x' })).toEqual([
      'statusId: is required: the team has no initial status',
    ]);
  });

  it('refuses ids of another workspace like ids that do not exist', async () => {
    const other = await issueWorld(app, await app.secondWorkspace());
    const stranger = await callerOf(app, other.ada.token).create({ teamId: other.eng.id, title: 'Theirs' });
    const references = (random: boolean) => {
      const id = (prefix: Parameters<typeof encodeId>[0], theirs: string) =>
        random ? encodeId(prefix, newUuid()) : theirs;
      return {
        title: 'x',
        teamId: id('team', other.eng.id),
        statusId: id('status', other.eng.todo),
        deliveryId: id('delivery', other.eng.sprint1),
        projectId: id('project', other.apollo),
        labelIds: [id('label', other.shared)],
        parentIssueId: id('issue', stranger.id),
        primaryAssigneeUserAccountId: id('user', other.bob.id),
      };
    };
    const theirs = await ada.violationsOf('issueCreate', references(false));
    expect(theirs).toHaveLength(7);
    expect(theirs).toEqual(await ada.violationsOf('issueCreate', references(true)));
  });

  it('refuses guests', async () => {
    const refusal = await callerOf(app, world.guest.token).refusalOf('issueCreate', {
      teamId: world.eng.id,
      title: 'x',
    });
    expect(refusal).toMatchObject({ code: 'FORBIDDEN', errors: [] });
  });

  it('needs only the scope issues:write, also to read its answer', async () => {
    const reader = callerOf(app, await app.tokenFor({ scopes: ['issues:read'] }));
    expect(await reader.refusalOf('issueCreate', { teamId: world.eng.id, title: 'x' })).toMatchObject({
      code: 'FORBIDDEN',
    });
    const writer = callerOf(app, await app.tokenFor({ scopes: ['issues:write'] }));
    expect(await writer.create({ teamId: world.eng.id, title: 'x' })).toMatchObject({ title: 'x' });
  });
});

describe('the ids of labels and people in the row of an issue', () => {
  /** The number of label ids in the row, and the ids of its assignees in their order. */
  const stored = async ({ key }: IssueRead): Promise<unknown> => {
    const number = Number(key.split('-')[1]);
    const { rows } = await sql<{ labels: number | null; people: string[] | null }>`
      select cardinality(label_ids) as labels, assignee_user_account_ids::text[] as people from issue
      where team_id = ${world.eng.uuid} and number = ${number}`.execute(app.database.unscoped);
    return rows[0];
  };

  const read = async ({ key }: IssueRead): Promise<unknown> => {
    const { body } = await app.graphql(
      'query ($key: String!) { issue(key: $key) { labelIds assigneeUserAccountIds assignees { displayName } } }',
      { key },
    );
    return body.data;
  };

  const tidyAll = () =>
    tidy([issuesWithoutIdArrays(app.database)], {
      info: () => undefined,
      warn: (object: unknown) => expect(object).toBeUndefined(),
    });

  it('are those of its join tables, after any kind of write, also in rows from before the columns existed', async () => {
    const { eng, shared, bob, agent } = world;
    const people = { labelIds: [eng.bug, shared], primaryAssigneeUserAccountId: bob.id };
    const issue = await ada.create({ teamId: eng.id, title: 'With labels', ...people });
    const bare = await ada.create({ teamId: eng.id, title: 'Without' });
    expect(await stored(issue)).toEqual({ labels: 2, people: [bob.uuid] });
    expect(await stored(bare)).toEqual({ labels: 0, people: [] });
    await ada.mutate('issueUpdate', { key: issue.key, labelIds: [shared] });
    expect(await stored(issue)).toEqual({ labels: 1, people: [bob.uuid] });
    // An assignee who moves to another position keeps the same row of the join table.
    await ada.mutate('issueUpdate', { key: issue.key, primaryAssigneeUserAccountId: agent.id });
    await ada.mutate('issueUpdate', { key: issue.key, assigneeUserAccountIds: [bob.id, agent.id] });
    expect(await stored(issue)).toEqual({ labels: 1, people: [agent.uuid, bob.uuid] });
    await ada.mutate('issueUpdate', {
      key: issue.key,
      primaryAssigneeUserAccountId: bob.id,
      assigneeUserAccountIds: [agent.id, bob.id],
    });
    expect(await stored(issue)).toEqual({ labels: 1, people: [bob.uuid, agent.uuid] });

    // The state of issues from before the columns existed.
    const shown = {
      issue: {
        labelIds: [shared],
        assigneeUserAccountIds: [bob.id, agent.id],
        assignees: [{ displayName: bob.displayName }, { displayName: agent.displayName }],
      },
    };
    expect(await read(issue)).toEqual(shown);
    await sql`update issue set label_ids = null, assignee_user_account_ids = null
      where workspace_id = ${world.workspaceId}`.execute(app.database.unscoped);
    expect(await read(issue)).toEqual(shown);
    await ada.mutate('issueUpdate', { key: bare.key, labelIds: [shared, eng.bug] });
    expect(await stored(issue)).toEqual({ labels: null, people: null });
    expect(await stored(bare)).toEqual({ labels: 2, people: null });

    await tidyAll();
    expect(await stored(issue)).toEqual({ labels: 1, people: [bob.uuid, agent.uuid] });
    expect(await stored(bare)).toEqual({ labels: 2, people: [] });
    expect(await read(issue)).toEqual(shown);
    expect(await brokenInvariants(app.database)).toEqual({});
  });

  it('are added to old issues even if only one of the two columns is missing', async () => {
    const issue = await ada.create({
      teamId: world.eng.id,
      title: 'Half',
      assigneeUserAccountIds: [world.bob.id],
    });
    await sql`update issue set assignee_user_account_ids = null where workspace_id = ${world.workspaceId}`.execute(
      app.database.unscoped,
    );
    await tidyAll();
    expect(await stored(issue)).toEqual({ labels: 0, people: [world.bob.uuid] });
  });
});
