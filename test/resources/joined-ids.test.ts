import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { unwrittenSets } from '../../src/resolvers/housekeeping.ts';
import { tidy } from '../../src/server/janitor.ts';
import { brokenInvariants } from '../support/invariants.ts';
import type { IssueRead } from '../support/mutations.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';

const { app, world, ada } = useIssueWorld();

/** How many labels the row holds, and whom of the assignees, in their order. */
const stored = async ({ key }: IssueRead): Promise<unknown> => {
  const number = Number(key.split('-')[1]);
  const { rows } = await sql<{ labels: number | null; people: string[] | null }>`
    select cardinality(label_ids) as labels, assignee_user_account_ids::text[] as people from issue
    where team_id = (select id from team where code = 'ENG') and number = ${number}`.execute(
    app.database.unscoped,
  );
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
  tidy([unwrittenSets(app.database)], {
    info: () => undefined,
    warn: (object: unknown) => expect(object).toBeUndefined(),
  });

it('are those of the joins, whoever wrote them, and before they were written, too', async () => {
  const { eng, shared, bob, agent } = world;
  const people = { labelIds: [eng.bug, shared], primaryAssigneeUserAccountId: bob.id };
  const issue = await ada.create({ teamId: eng.id, title: 'With labels', ...people });
  const bare = await ada.create({ teamId: eng.id, title: 'Without' });
  expect(await stored(issue)).toEqual({ labels: 2, people: [bob.uuid] });
  expect(await stored(bare)).toEqual({ labels: 0, people: [] });
  await ada.mutate('issueUpdate', { key: issue.key, labelIds: [shared] });
  expect(await stored(issue)).toEqual({ labels: 1, people: [bob.uuid] });
  // Who has one place and gets another stands in the same row of the join.
  await ada.mutate('issueUpdate', { key: issue.key, primaryAssigneeUserAccountId: agent.id });
  await ada.mutate('issueUpdate', { key: issue.key, assigneeUserAccountIds: [bob.id, agent.id] });
  expect(await stored(issue)).toEqual({ labels: 1, people: [agent.uuid, bob.uuid] });
  await ada.mutate('issueUpdate', {
    key: issue.key,
    primaryAssigneeUserAccountId: bob.id,
    assigneeUserAccountIds: [agent.id, bob.id],
  });
  expect(await stored(issue)).toEqual({ labels: 1, people: [bob.uuid, agent.uuid] });

  // As they are of issues from before there were the columns.
  const shown = {
    issue: {
      labelIds: [shared],
      assigneeUserAccountIds: [bob.id, agent.id],
      assignees: [{ displayName: bob.displayName }, { displayName: agent.displayName }],
    },
  };
  expect(await read(issue)).toEqual(shown);
  await sql`update issue set label_ids = null, assignee_user_account_ids = null`.execute(
    app.database.unscoped,
  );
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

it('are written of old issues where one of the two is missing alone', async () => {
  const issue = await ada.create({
    teamId: world.eng.id,
    title: 'Half',
    assigneeUserAccountIds: [world.bob.id],
  });
  await sql`update issue set assignee_user_account_ids = null`.execute(app.database.unscoped);
  await tidyAll();
  expect(await stored(issue)).toEqual({ labels: 0, people: [world.bob.uuid] });
});
