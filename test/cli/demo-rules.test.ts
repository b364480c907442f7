import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { brokenInvariants } from '../support/invariants.ts';
import { copyTemplate, type TestDatabase } from '../support/templates.ts';

// The rows of the demo were not created by the service's own writes, but must satisfy the same rules.

let testDatabase: TestDatabase;

beforeAll(async () => {
  testDatabase = await copyTemplate('demo');
});

afterAll(() => testDatabase.drop());

async function select<Row = { id: string }>(statement: string): Promise<Row[]> {
  return (await sql.raw<Row>(statement).execute(testDatabase.database.unscoped)).rows;
}

it('the demo breaks no invariant of writes', async () => {
  expect(await brokenInvariants(testDatabase.database)).toEqual({});
});

it.each([
  [
    'memberCount counts active members',
    `select t.id from team t where member_count <> (select count(*) from team_member m
      join member p on p.user_account_id = m.user_account_id where m.team_id = t.id and p.status = 2)`,
  ],
  [
    'activeProjectCount counts projects in the state active',
    `select t.id from team t where active_project_count <>
      (select count(*) from project p where p.team_id = t.id and p.state = 2)`,
  ],
  [
    'linkCount counts the links of a project',
    `select p.id from project p where link_count <> (select count(*) from project_link l where l.project_id = p.id)`,
  ],
  [
    'leads and assignees are active',
    `select m.id from member m where status <> 2 and user_account_id in (
      select user_account_id from issue_assignee union select lead_user_account_id from team
      union select lead_user_account_id from project union select user_account_id from issue_role_assignment)`,
  ],
  [
    'no issue or project has a label group',
    `select id from label where is_group and id in (
      select label_id from issue_label union select label_id from project_label)`,
  ],
  [
    'labels and delivery are of the issue’s own team',
    `select i.id from issue i join issue_label x on x.issue_id = i.id
      join label l on l.id = x.label_id where l.team_id <> i.team_id`,
  ],
  [
    'an issue has one label of a group',
    `select x.issue_id from issue_label x join label l on l.id = x.label_id
      where group_id is not null group by 1, group_id having count(*) > 1`,
  ],
  [
    'reporter, assignees and commenters are subscribed',
    `select who.* from (
      select id as issue_id, reporter_user_account_id as u from issue union select issue_id, user_account_id from issue_assignee
      union select issue_id, author_user_account_id from comment) who left join issue_subscription s
      on (s.issue_id, s.user_account_id) = (who.issue_id, who.u) where s.issue_id is null`,
  ],
  [
    'updatedUtc is the time of the last change or of the creation',
    `select i.id from issue i where updated_utc <> coalesce(
      (select max(occurred_utc) from activity a where a.issue_id = i.id and event_type = 'issue.updated.v1'), created_utc)`,
  ],
  [
    'closedUtc is set in a terminal status that an issue has got by a change, and not by its creation',
    `select i.id from issue i join status s on s.id = i.status_id
      where (closed_utc is not null) <> (is_terminal and exists (select from activity a where a.issue_id = i.id and a.text ~ 'changed the status'))`,
  ],
  [
    'a stage begins with each change of a status that the feed tells of',
    `select a.id from activity a where a.text ~ 'changed the status' and not exists (
      select from issue_stage s where s.issue_id = a.issue_id and s.since_utc = a.occurred_utc)`,
  ],
  [
    'the history is complete, so issues in an active status have been started',
    `select i.id from issue i join status s on s.id = i.status_id join workspace w on w.id = i.workspace_id
      where w.history_since_utc is not null or (s.category = 3 and i.started_utc is null)`,
  ],
  [
    'no activity is in the future, or from before its actor joined',
    `select id from activity where occurred_utc > now() union
      select a.id from activity a join member m on m.user_account_id = a.actor_user_account_id where a.occurred_utc < m.created_utc`,
  ],
  [
    'a reply answers an earlier comment of its issue, and names the author',
    `select c.id from comment c
      join comment p on p.id = c.parent_comment_id where p.created_utc >= c.created_utc or p.issue_id <> c.issue_id
        or p.author_user_account_id <> c.parent_author_user_account_id`,
  ],
])('in the demo, %s', async (_rule, statement) => {
  expect(await select(statement)).toEqual([]);
});

it('the feeds of the demo end with the current status, assignee, estimate, due date and delivery of the issue', async () => {
  const issues = await select<
    Record<'feed' | 'status' | 'assignee' | 'estimate' | 'due' | 'delivery', string | null>
  >(`
      select s.name as status, m.display_name as assignee, i.estimate_value::text as estimate, i.due_date::text as due, d.name as delivery,
        (select string_agg(text, E'\\n' order by sort_order) from activity a where a.issue_id = i.id and event_type = 'issue.updated.v1') as feed
      from issue i join status s on s.id = i.status_id left join delivery d on d.id = i.delivery_id
        left join member m on m.user_account_id = i.primary_assignee_user_account_id`);
  const lastLogged = (feed: string | null, pattern: RegExp) =>
    [...(feed ?? '').matchAll(pattern)].at(-1)?.[1];
  const stop = '(?=, | and |$)';
  for (const { feed, status, assignee, estimate, due, delivery } of issues) {
    expect(lastLogged(feed, new RegExp(`changed the status from .+? to (.+?)${stop}`, 'gm')) ?? status).toBe(
      status,
    );
    if (!/unassigned/.test(feed ?? ''))
      expect(lastLogged(feed, new RegExp(`assigned it (?:from .+? )?to (.+?)${stop}`, 'gm')) ?? null).toBe(
        assignee,
      );
    expect(lastLogged(feed, /the estimate (?:from \d+ )?to (\d+)/g) ?? null).toBe(estimate);
    expect(lastLogged(feed, /the due date (?:from \S+ )?to (\d{4}-\d\d-\d\d)/g) ?? null).toBe(due);
    const lastMove = lastLogged(
      feed,
      new RegExp(
        `(?<=it )((?:into|to|out of) (?:Sprint|Cycle|Iteration|Release) \\d+|from (?:Sprint|Cycle|Iteration|Release) \\d+ to \\w+ \\d+)${stop}`,
        'gm',
      ),
    );
    expect(lastMove && !lastMove.startsWith('out of') ? lastMove.replace(/^.*to /, '') : null).toBe(delivery);
  }
});
