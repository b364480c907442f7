import { sql } from 'kysely';
import type { Database } from '../../src/db/engine.ts';

/**
 * What must hold of all issues and what hangs on them, whatever was written and however much at once: each
 * statement selects what breaks its rule.
 */
const rules: Readonly<Record<string, string>> = {
  'commentCount and lastCommentUtc are of the living comments': `
    select i.id from issue i left join lateral (
      select count(*)::int as counted, max(created_utc) as newest from comment c
      where (c.workspace_id, c.issue_id) = (i.workspace_id, i.id) and c.deleted_utc is null) c on true
    where i.comment_count <> c.counted or i.last_comment_utc is distinct from c.newest`,
  'linkCount is of the living links': `
    select i.id from issue i where i.link_count <> (select count(*) from issue_link l
      where (l.workspace_id, l.issue_id) = (i.workspace_id, i.id) and l.deleted_utc is null)`,
  'subIssueCount is of the living sub-issues, 0 when the issue is deleted itself': `
    select i.id from issue i where i.sub_issue_count <> (select count(*) from issue s
      where (s.workspace_id, s.parent_issue_id) = (i.workspace_id, i.id) and s.deleted_utc is null)`,
  'a parent is living, and a deleted parent is deleted': `
    select i.id from issue i
      left join issue p on (p.workspace_id, p.id) = (i.workspace_id, i.parent_issue_id)
      left join issue d on (d.workspace_id, d.id) = (i.workspace_id, i.deleted_parent_issue_id)
    where p.deleted_utc is not null or (d.id is not null and d.deleted_utc is null)
      or (i.parent_issue_id is not null and i.deleted_parent_issue_id is not null)`,
  'no issue is a part of itself': `
    with recursive above as (
      select workspace_id, id as start, parent_issue_id from issue where parent_issue_id is not null
      union select a.workspace_id, a.start, p.parent_issue_id from above a
        join issue p on (p.workspace_id, p.id) = (a.workspace_id, a.parent_issue_id))
    select start as id from above where parent_issue_id = start`,
  'the feed is gapless from 1 to activityCount, in order of time, its last entry at lastActivityUtc': `
    select i.id from issue i left join lateral (
      select count(*)::int as counted, max(sort_order) as newest, max(occurred_utc) as at,
        coalesce(bool_and(in_order), true) as in_order
      from (select sort_order, occurred_utc, occurred_utc >= coalesce(lag(occurred_utc) over (order by sort_order), occurred_utc) as in_order
        from activity a where (a.workspace_id, a.issue_id) = (i.workspace_id, i.id)) entries) f on true
    where i.activity_count <> f.counted or i.activity_count <> coalesce(f.newest, 0)
      or i.last_activity_utc is distinct from f.at or not f.in_order`,
  'numbers are gapless within the team, and the counter is next': `
    select c.team_id as id from team_counter c left join lateral (
      select count(*)::int as counted, coalesce(max(number), 0) as newest from issue i
      where (i.workspace_id, i.team_id) = (c.workspace_id, c.team_id)) n on true
    where n.counted <> n.newest or c.next_issue_number <> n.newest + 1`,
  'statusRank is that of the status': `
    select i.id from issue i join status s on (s.workspace_id, s.id) = (i.workspace_id, i.status_id)
    where s.rank <> i.status_rank or s.team_id <> i.team_id`,
  'the primary assignee is the assignee at 0, and there is none at 0 without': `
    select i.id from issue i left join issue_assignee a
      on (a.workspace_id, a.issue_id, a.position) = (i.workspace_id, i.id, 0)
    where i.primary_assignee_user_account_id is distinct from a.user_account_id`,
  'places of assignees are all different': `
    select issue_id as id from issue_assignee group by workspace_id, issue_id, position having count(*) > 1`,
  'an open issue is not closed': `
    select i.id from issue i join status s on (s.workspace_id, s.id) = (i.workspace_id, i.status_id)
    where not s.is_terminal and i.closed_utc is not null`,
  'counts of deliveries are those of their living issues': `
    select d.id from delivery d
      left join lateral (select coalesce(sum(issue_count), 0) as i, coalesce(sum(closed_issue_count), 0) as c,
        coalesce(sum(estimated_scope), 0) as e, coalesce(sum(closed_estimate), 0) as x from delivery_count n
        where (n.workspace_id, n.delivery_id) = (d.workspace_id, d.id)) kept on true
      left join lateral (select count(*) as i, count(*) filter (where s.is_terminal) as c,
        coalesce(sum(estimate_value), 0) as e, coalesce(sum(estimate_value) filter (where s.is_terminal), 0) as x
        from issue join status s on (s.workspace_id, s.id) = (issue.workspace_id, issue.status_id)
        where (issue.workspace_id, issue.delivery_id) = (d.workspace_id, d.id) and issue.deleted_utc is null) counted on true
    where (kept.i, kept.c, kept.e, kept.x) is distinct from (counted.i, counted.c, counted.e, counted.x)`,
  'counts of projects are those of their living issues that are not canceled': `
    select p.id from project p
      left join lateral (select coalesce(sum(issue_count), 0) as i, coalesce(sum(completed_issue_count), 0) as c
        from project_count n where (n.workspace_id, n.project_id) = (p.workspace_id, p.id)) kept on true
      left join lateral (select count(*) filter (where s.category <> 5) as i, count(*) filter (where s.category = 4) as c
        from issue join status s on (s.workspace_id, s.id) = (issue.workspace_id, issue.status_id)
        where (issue.workspace_id, issue.project_id) = (p.workspace_id, p.id) and issue.deleted_utc is null) counted on true
    where (kept.i, kept.c) is distinct from (counted.i, counted.c)`,
  'messageCount, places and last message of a thread are those of its messages': `
    select t.id from agent_thread t left join lateral (
      select count(*)::int as counted, max(sort_order) as newest, max(created_utc) as at, min(created_utc) as first
      from agent_thread_message m where (m.workspace_id, m.thread_id) = (t.workspace_id, t.id)) m on true
    where t.message_count <> m.counted or t.message_count <> m.newest or t.last_message_utc <> m.at
      or t.started_utc <> m.first`,
  'times are in order': `
    select id from issue where updated_utc < created_utc or last_activity_utc < created_utc or closed_utc < created_utc`,
};

/** The rules that the rows of a database break, each with ids of rows that break it; none when all is well. */
export async function brokenInvariants({ unscoped }: Database): Promise<Record<string, string[]>> {
  const broken: Record<string, string[]> = {};
  for (const [rule, statement] of Object.entries(rules)) {
    const { rows } = await sql.raw<{ id: string }>(statement).execute(unscoped);
    if (rows.length > 0) broken[rule] = rows.slice(0, 5).map(({ id }) => id);
  }
  return broken;
}
