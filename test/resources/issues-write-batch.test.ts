import { describe, expect, it } from '@jest/globals';
import { callerOf, type IssueRead } from '../support/mutations.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';

const { app, world, ada } = useIssueWorld();

function create(input: Record<string, unknown> = {}): Promise<IssueRead> {
  return ada.create({ teamId: world.eng.id, title: 'An issue', ...input });
}

describe('issueBatchUpdate', () => {
  it('makes one change to many issues of several teams, each with its entry', async () => {
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

  it('closes those that were open and keeps the time of those that were closed', async () => {
    const [open, closed] = [await create(), await create()];
    const { closedUtc } = await ada.update(closed.key, { statusId: world.eng.done });
    const { issues } = await ada.mutate('issueBatchUpdate', {
      keys: [open.key, closed.key],
      statusId: world.eng.canceled,
    });
    expect(issues).toMatchObject([{ closedUtc: issues[0]?.updatedUtc }, { closedUtc }]);
  });

  it('changes all or none, and says at which key it fails', async () => {
    const mine = await create();
    const theirs = await ada.create({ teamId: world.ops.id, title: 'Ops' });
    expect(
      await ada.violations('issueBatchUpdate', {
        keys: [mine.key, theirs.key],
        statusId: world.eng.done,
        title: '',
      }),
    ).toEqual(['title: must not be empty', "keys[1].statusId: does not belong to the issue's team"]);
    expect(
      await ada.refused('issueBatchUpdate', { keys: [mine.key, 'ENG-99999', 'x'], title: 'New' }),
    ).toMatchObject({
      code: 'NOT_FOUND',
      errors: [
        { field: 'keys[1]', message: 'names no issue' },
        { field: 'keys[2]', message: 'names no issue' },
      ],
    });
    expect(
      await ada.violations('issueBatchUpdate', { keys: [mine.key, theirs.key], parentIssueId: theirs.id }),
    ).toEqual(['keys[1].parentIssueId: would make the issue a part of itself']);
    expect(await ada.read(mine.key)).toMatchObject({ title: 'An issue', revision: 1, parentIssueId: null });
  });

  it('takes 1 to 50 keys', async () => {
    const many = Array.from({ length: 51 }, (_, index) => `ENG-${index + 1}`);
    for (const keys of [[], many]) {
      expect(await ada.violations('issueBatchUpdate', { keys, title: 'x' })).toEqual([
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
  it('makes the viewer follow an issue, issueUnsubscribe no more, as often as one likes', async () => {
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
    expect(await bob.refused('issueSubscribe', { key: 'ENG-99999' })).toMatchObject({ code: 'NOT_FOUND' });
  });
});
