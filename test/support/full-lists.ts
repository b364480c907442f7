import { sql } from 'kysely';
import { analyzeTables } from '../../src/db/statistics.ts';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import { limits } from '../../src/model/limits.ts';
import { fold } from '../../src/model/fold.ts';
import type { App } from './app.ts';
import { member, team } from './fixtures.ts';
import { uuidOf } from './ids.ts';

/** The maximum size of a page. */
const issueCount = 250;

/** Adds a full page of issues to one team, with as many labels, assignees and roles as an issue may have. */
export async function fillLists(app: App): Promise<void> {
  const { database, workspaceId } = app;
  const { id } = await team(database, workspaceId, { code: 'LONG' });
  const labels = Array.from({ length: limits.labels }, (_, index) => {
    const name = `Label ${index}`;
    return { workspaceId, id: newUuid(), teamId: id, name, nameFold: fold(name) };
  });
  await database.unscoped.insertInto('label').values(labels).execute();
  const people: string[] = [];
  for (let count = 0; count < limits.people; count += 1) {
    const { userAccountId } = await member(database, workspaceId);
    people.push(encodeId('user', userAccountId));
  }
  const input = {
    teamId: encodeId('team', id),
    title: 'An issue with long lists',
    labelIds: labels.map((label) => encodeId('label', label.id)),
    assigneeUserAccountIds: people,
    roleAssignments: people.map((userAccountId, index) => ({ role: `Role ${index}`, userAccountId })),
  };
  const { body } = await app.graphql<{ issueCreate: { issue: { id: string } } }>(
    'mutation ($input: IssueCreateInput!) { issueCreate(input: $input) { issue { id } } }',
    { input },
  );
  if (!body.data) throw new Error(`The issue failed: ${JSON.stringify(body.errors)}`);
  await copyIssue(database, uuidOf(body.data.issueCreate.issue.id), issueCount - 1);
  // The server analyzes tables a second after a write. Otherwise the speed of a statement would depend on whether it has done so.
  await analyzeTables(database.unscoped);
}

/** Copies an issue and its lists by SQL, because 250 mutations take seconds. */
async function copyIssue({ unscoped }: App['database'], original: string, copies: number): Promise<void> {
  const ids = Array.from({ length: copies }, () => newUuid());
  const columns =
    sql.raw(`workspace_id, team_id, title, title_fold, reporter_user_account_id, status_id, status_rank,
    priority, primary_assignee_user_account_id, created_utc, updated_utc, last_activity_utc`);
  await sql`insert into issue (id, number, ${columns})
    select copy.id, number + copy.ordinal, ${columns} from issue, unnest(${ids}::uuid[]) with ordinality copy (id, ordinal)
    where issue.id = ${original}`.execute(unscoped);
  for (const [table, rest] of [
    ['issue_label', 'workspace_id, label_id'],
    ['issue_assignee', 'workspace_id, user_account_id, position'],
    ['issue_role_assignment', 'workspace_id, role, user_account_id'],
  ] as const) {
    await sql`insert into ${sql.table(table)} (issue_id, ${sql.raw(rest)})
      select copy.id, ${sql.raw(rest)} from ${sql.table(table)}, unnest(${ids}::uuid[]) copy (id)
      where issue_id = ${original}`.execute(unscoped);
  }
}
