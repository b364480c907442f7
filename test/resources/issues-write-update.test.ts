import { describe, expect, it } from '@jest/globals';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import { issueWorld } from '../support/issue-world.ts';
import { callerOf, type IssueRead } from '../support/mutations.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';

const { app, world, ada } = useIssueWorld();

function create(input: Record<string, unknown> = {}): Promise<IssueRead> {
  return ada.create({ teamId: world.eng.id, title: 'An issue', ...input });
}

describe('issueUpdate', () => {
  it('changes the given fields, clears those that are null, keeps the rest, and adds one entry to the feed', async () => {
    const { eng, bob } = world;
    const before = await create({
      description: 'Old',
      priority: 'LOW',
      projectId: world.apollo,
      deliveryId: eng.sprint1,
      estimateValue: 3,
      dueDate: '2026-05-01',
      labelIds: [eng.bug],
      primaryAssigneeUserAccountId: bob.id,
    });
    const kept = await ada.update(before.key.toLowerCase(), { title: 'New' });
    expect(kept).toEqual({
      ...before,
      title: 'New',
      revision: 2,
      updatedUtc: expect.any(String),
      lastActivityUtc: kept.updatedUtc,
    });
    expect(String(kept.updatedUtc) >= String(before.updatedUtc)).toBe(true);
    const cleared = await ada.update(before.id, {
      description: null,
      priority: null,
      projectId: null,
      deliveryId: null,
      estimateValue: null,
      dueDate: null,
      labelIds: null,
      primaryAssigneeUserAccountId: null,
    });
    expect(cleared).toMatchObject({
      title: 'New',
      description: '',
      priority: 'NONE',
      projectId: null,
      deliveryId: null,
      estimateValue: null,
      dueDate: null,
      labelIds: [],
      primaryAssigneeUserAccountId: null,
      assigneeUserAccountIds: [],
      revision: 3,
    });
    expect(await ada.feed(before.key)).toEqual([
      {
        eventType: 'issue.updated.v1',
        text: 'Ada Member changed the title',
        sortOrder: 1,
        occurredUtc: kept.lastActivityUtc,
        actorUserAccountId: world.ada.id,
        iconCss: 'icon-pen',
      },
      expect.objectContaining({
        sortOrder: 2,
        text: 'Ada Member changed the description, the priority to none, the assignee to none, the project to none, the delivery to none, the estimate to none, the due date to none and the labels',
      }),
    ]);
  });

  it('sets closedUtc on entering a terminal status, keeps it between terminal statuses, and clears it on leaving', async () => {
    const { eng } = world;
    const { key } = await create();
    const done = await ada.update(key, { statusId: eng.done });
    expect(done.closedUtc).toBe(done.updatedUtc);
    expect((await ada.update(key, { title: 'Still closed' })).closedUtc).toBe(done.closedUtc);
    expect((await ada.update(key, { statusId: eng.canceled })).closedUtc).toBe(done.closedUtc);
    expect(await ada.update(key, { statusId: eng.doing })).toMatchObject({
      closedUtc: null,
      statusId: eng.doing,
    });
    const born = await create({ statusId: eng.done });
    expect((await ada.update(born.key, { statusId: eng.canceled })).closedUtc).toBeNull();
  });

  it('names the new values in the feed', async () => {
    const { eng, bob } = world;
    const { key } = await create();
    await ada.update(key, {
      statusId: eng.doing,
      priority: 'HIGH',
      primaryAssigneeUserAccountId: bob.id,
      projectId: world.apollo,
    });
    expect(await ada.feed(key)).toMatchObject([
      {
        text: 'Ada Member changed the status to Doing, the priority to high, the assignee to Bob Member and the project to Apollo',
      },
    ]);
  });

  it('refuses unknown references as issueCreate does', async () => {
    const { key } = await create();
    const nobody = encodeId('user', newUuid());
    const refused = await ada.refusalOf('issueUpdate', {
      key,
      projectId: encodeId('project', newUuid()),
      parentIssueId: encodeId('issue', newUuid()),
      primaryAssigneeUserAccountId: nobody,
      assigneeUserAccountIds: [nobody],
    });
    const errors = (refused.errors ?? []) as { field: string }[];
    expect([refused.code, errors.map(({ field }) => field)]).toEqual([
      'VALIDATION_FAILED',
      ['projectId', 'parentIssueId', 'primaryAssigneeUserAccountId', 'assigneeUserAccountIds'],
    ]);
  });

  it('counts an update without any change as an update', async () => {
    const { key, title } = await create();
    expect(await ada.update(key, { title })).toMatchObject({ revision: 2 });
    expect(await ada.feed(key)).toHaveLength(1);
  });

  it('replaces the former primary assignee in the list of assignees', async () => {
    const { bob, invited, admin } = world;
    const { key } = await create({ assigneeUserAccountIds: [bob.id, invited.id] });
    const replaced = await ada.update(key, { primaryAssigneeUserAccountId: admin.id });
    expect(replaced.assigneeUserAccountIds).toEqual([admin.id, invited.id]);
    const promoted = await ada.update(key, { primaryAssigneeUserAccountId: invited.id });
    expect(promoted.assigneeUserAccountIds).toEqual([invited.id]);
    const both = await ada.update(key, {
      primaryAssigneeUserAccountId: bob.id,
      assigneeUserAccountIds: [invited.id, admin.id],
    });
    expect(both.assigneeUserAccountIds).toEqual([bob.id, invited.id, admin.id]);
    const cleared = await ada.update(key, { primaryAssigneeUserAccountId: null });
    expect(cleared).toMatchObject({
      primaryAssigneeUserAccountId: null,
      assigneeUserAccountIds: [invited.id, admin.id],
    });
  });

  it('keeps the primary assignee if a new list contains it, else takes the first of the list', async () => {
    const { bob, invited, admin } = world;
    const { key } = await create({ primaryAssigneeUserAccountId: bob.id });
    expect(await ada.update(key, { assigneeUserAccountIds: [admin.id, bob.id] })).toMatchObject({
      primaryAssigneeUserAccountId: bob.id,
      assigneeUserAccountIds: [bob.id, admin.id],
    });
    expect(await ada.update(key, { assigneeUserAccountIds: [invited.id, admin.id] })).toMatchObject({
      primaryAssigneeUserAccountId: invited.id,
      assigneeUserAccountIds: [invited.id, admin.id],
    });
    expect(await ada.update(key, { assigneeUserAccountIds: [] })).toMatchObject({
      primaryAssigneeUserAccountId: null,
      assigneeUserAccountIds: [],
    });
  });

  it('subscribes new assignees, but not those who have unsubscribed before', async () => {
    const { key } = await create();
    const bob = callerOf(app, world.bob.token);
    await ada.update(key, { primaryAssigneeUserAccountId: world.bob.id });
    expect(await bob.read(key)).toMatchObject({ isSubscribed: true });
    await bob.mutate('issueUnsubscribe', { key });
    await ada.update(key, { assigneeUserAccountIds: [world.bob.id, world.admin.id] });
    expect(await bob.read(key)).toMatchObject({ isSubscribed: false });
  });

  it('replaces the whole sets of labels and role assignments', async () => {
    const { eng, bob, admin } = world;
    const { key } = await create({ labelIds: [eng.bug, world.shared] });
    const roleAssignments = [
      { role: 'tester', userAccountId: bob.id },
      { role: 'reviewer', userAccountId: bob.id },
      { role: 'tester', userAccountId: bob.id },
    ];
    const first = await ada.update(key, { labelIds: [eng.feature, eng.bug], roleAssignments });
    expect(first.labelIds).toEqual([eng.bug, eng.feature]);
    expect(first.roleAssignments).toMatchObject([{ role: 'reviewer' }, { role: 'tester' }]);
    const second = await ada.update(key, {
      labelIds: [],
      roleAssignments: [{ role: 'tester', userAccountId: admin.id }],
    });
    expect(second).toMatchObject({
      labelIds: [],
      roleAssignments: [{ role: 'tester', userAccountId: admin.id }],
    });
  });

  it('moves an issue between parents, and updates the counts of both', async () => {
    const [first, second, child] = [await create(), await create(), await create()];
    await ada.update(child.key, { parentIssueId: first.id });
    expect(await ada.read(first.key)).toMatchObject({
      subIssueCount: 1,
      revision: 1,
      updatedUtc: first.updatedUtc,
    });
    expect(await ada.update(child.key, { parentIssueId: second.id })).toMatchObject({
      parentIssueId: second.id,
    });
    expect(await ada.read(first.key)).toMatchObject({ subIssueCount: 0 });
    expect(await ada.read(second.key)).toMatchObject({ subIssueCount: 1 });
    await ada.update(child.key, { parentIssueId: null });
    expect(await ada.read(second.key)).toMatchObject({ subIssueCount: 0, revision: 1 });
  });

  it('refuses a parent that would create a cycle', async () => {
    const top = await create();
    const middle = await create({ parentIssueId: top.id });
    const bottom = await create({ parentIssueId: middle.id });
    const circle = ['parentIssueId: would make the issue a part of itself'];
    expect(await ada.violationsOf('issueUpdate', { key: top.key, parentIssueId: top.id })).toEqual(circle);
    expect(await ada.violationsOf('issueUpdate', { key: top.key, parentIssueId: bottom.id })).toEqual(circle);
    expect(await ada.update(bottom.key, { parentIssueId: top.id })).toMatchObject({ parentIssueId: top.id });
  });

  it('updates the counts of deliveries and projects when issues move, close, or change their estimate', async () => {
    const { eng } = world;
    const counts = async () => {
      const query = `query ($d: ID!, $p: ID!) {
        delivery: node(id: $d) { ... on Delivery { issueCount closedIssueCount estimatedScope closedEstimate } }
        project: node(id: $p) { ... on Project { progressPercent } } }`;
      const { body } = await app.graphql<Record<string, object>>(query, { d: eng.sprint2, p: world.gemini });
      return { ...body.data?.delivery, ...body.data?.project };
    };
    const { key } = await create({ deliveryId: eng.sprint2, projectId: world.gemini, estimateValue: 5 });
    await create({
      deliveryId: eng.sprint2,
      projectId: world.gemini,
      estimateValue: 2,
      statusId: eng.canceled,
    });
    expect(await counts()).toEqual({
      issueCount: 2,
      closedIssueCount: 1,
      estimatedScope: 7,
      closedEstimate: 2,
      progressPercent: 0,
    });
    await ada.update(key, { statusId: eng.done, estimateValue: 8 });
    expect(await counts()).toEqual({
      issueCount: 2,
      closedIssueCount: 2,
      estimatedScope: 10,
      closedEstimate: 10,
      progressPercent: 100,
    });
    await ada.update(key, { deliveryId: eng.sprint1, projectId: null });
    expect(await counts()).toEqual({
      issueCount: 1,
      closedIssueCount: 1,
      estimatedScope: 2,
      closedEstimate: 2,
      progressPercent: 0,
    });
  });

  it('refuses an update whose expected revision is not the current one', async () => {
    const { key, revision } = await create();
    expect(await ada.update(key, { title: 'Mine', expectedRevision: revision })).toMatchObject({
      revision: 2,
    });
    expect(
      await ada.refusalOf('issueUpdate', { key, title: 'Late', expectedRevision: revision }),
    ).toMatchObject({
      code: 'PRECONDITION_FAILED',
    });
    expect(await ada.read(key)).toMatchObject({ title: 'Mine', revision: 2 });
  });

  it('reports all bad fields at once, and changes nothing', async () => {
    const { key } = await create();
    expect(
      await ada.violationsOf('issueUpdate', {
        key,
        title: null,
        statusId: null,
        description: 'fine',
        estimateValue: -2,
        deliveryId: world.ops.sprint1,
        projectId: world.bob.id,
        labelIds: [world.ops.bug],
      }),
    ).toEqual([
      'title: cannot be cleared',
      'statusId: cannot be cleared',
      'projectId: expected a project id, got a user id',
      'estimateValue: must be a whole number from 0 to 2147483647',
      "deliveryId: does not belong to the issue's team",
      "labelIds: item 1 is not a label of this workspace or of the issue's team",
    ]);
    expect(await ada.read(key)).toMatchObject({ description: '', revision: 1 });
    expect(await ada.violationsOf('issueUpdate', { key })).toEqual(['input: must change something']);
  });

  it('answers NOT_FOUND for an unknown issue, unless the input is invalid', async () => {
    for (const key of ['ENG-999999', 'NOPE-1', 'ENG-01', 'nonsense', encodeId('issue', newUuid())]) {
      expect(await ada.refusalOf('issueUpdate', { key, title: 'x' })).toEqual({
        code: 'NOT_FOUND',
        message: 'There is no such issue.',
        errors: [],
      });
      expect(await ada.violationsOf('issueUpdate', { key, title: '' })).toEqual(['title: must not be empty']);
    }
    expect(await ada.refusalOf('issueUpdate', { key: world.eng.id, title: 'x' })).toMatchObject({
      code: 'NOT_FOUND',
      message: 'There is no such issue: expected an issue id, got a team id.',
    });
    const other = await issueWorld(app, await app.secondWorkspace());
    const theirs = await callerOf(app, other.ada.token).create({ teamId: other.eng.id, title: 'Theirs' });
    expect(await ada.refusalOf('issueUpdate', { key: theirs.id, title: 'x' })).toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});
