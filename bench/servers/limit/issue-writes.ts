import { wholeIssue, wholeIssueJoins, type WholeIssueOptions } from './issues.ts';

const slot = '(abs(pg_backend_pid()) % 32)::smallint';

/**
 * W4 in one statement: it checks the references, takes a number only if all are valid, and builds the answer from the
 * written rows. $2 reporter, $3 team, $4 status or null, $5 title, $6 folded title, $7 description, $8 priority,
 * $9 assignee, $10 project, $11 delivery, $12 estimate, $13 due date, $14 labels, $15 id.
 */
export const issueCreate = (() => {
  const options: WholeIssueOptions = {
    api: 'graph',
    labels: 'select unnest($14::uuid[]) as label_id',
    assignees: 'select $9::uuid as user_account_id, 0 as position where $9::uuid is not null',
    roleAssignments: `'[]'::json`,
    isSubscribed: 'true',
    delivery: {
      issueCount: '1',
      closedIssueCount: '(s.is_terminal)::int',
      estimatedScope: 'coalesce(i.estimate_value, 0)',
      closedEstimate: '(s.is_terminal)::int * coalesce(i.estimate_value, 0)',
    },
  };
  return `
with first as materialized (
  select t.id as team_id, s.id as status_id, s.rank, s.category, s.is_terminal
  from team t join status s on s.workspace_id = $1 and s.team_id = t.id
    and case when $4::uuid is null then s.is_initial else s.id = $4 end
  where t.workspace_id = $1 and t.id = $3
    and ($9::uuid is null or exists (select from member where workspace_id = $1 and user_account_id = $9 and status in (1, 2)))
    and ($10::uuid is null or exists (select from project where workspace_id = $1 and id = $10))
    and ($11::uuid is null or exists (select from delivery where workspace_id = $1 and team_id = $3 and id = $11))
    and cardinality($14::uuid[]) = (select count(*) from label where workspace_id = $1 and id = any($14)
      and not is_group and (team_id is null or team_id = $3))),
numbered as (
  insert into team_counter as c (workspace_id, team_id, next_issue_number) select $1, team_id, 2 from first
  on conflict (workspace_id, team_id) do update set next_issue_number = c.next_issue_number + 1
  returning next_issue_number - 1 as number, clock_timestamp() as at),
written as (
  insert into issue (workspace_id, id, team_id, number, title, title_fold, description, reporter_user_account_id,
    status_id, status_rank, priority, primary_assignee_user_account_id, project_id, delivery_id, estimate_value, due_date,
    created_utc, updated_utc)
  select $1, $15, $3, number, $5, $6, $7, $2, status_id, rank, $8, $9, $10, $11, $12, $13, at, at
  from numbered, first returning *),
assigned_rows as (
  insert into issue_assignee (workspace_id, issue_id, user_account_id) select $1, id, $9 from written where $9::uuid is not null),
label_rows as (
  insert into issue_label (workspace_id, issue_id, label_id) select $1, id, unnest($14::uuid[]) from written),
subscribed as (
  insert into issue_subscription (workspace_id, issue_id, user_account_id)
  select $1, id, $2 from written union select $1, id, $9 from written where $9::uuid is not null),
in_delivery as (
  insert into delivery_count as c (workspace_id, delivery_id, slot, issue_count, closed_issue_count, estimated_scope, closed_estimate)
  select $1, $11, ${slot}, 1, is_terminal::int, coalesce($12::int, 0), is_terminal::int * coalesce($12::int, 0)
  from first, written where $11::uuid is not null
  on conflict (workspace_id, delivery_id, slot) do update set issue_count = c.issue_count + 1,
    closed_issue_count = c.closed_issue_count + excluded.closed_issue_count,
    estimated_scope = c.estimated_scope + excluded.estimated_scope,
    closed_estimate = c.closed_estimate + excluded.closed_estimate),
in_project as (
  insert into project_count as c (workspace_id, project_id, slot, issue_count, completed_issue_count)
  select $1, $10, ${slot}, (category <> 5)::int, (category = 4)::int from first, written where $10::uuid is not null
  on conflict (workspace_id, project_id, slot) do update set issue_count = c.issue_count + excluded.issue_count,
    completed_issue_count = c.completed_issue_count + excluded.completed_issue_count)
select '{"data":{"issueCreate":{"issue":' || row_to_json(x)::text || '}}}' from (
  select ${wholeIssue(options)} from written i ${wholeIssueJoins(options)}) x`;
})();

/**
 * W7 in one statement: it locks the row first, so that the counters are corrected from its current values. $2 actor,
 * $3 team code, $4 number, $5 title or null, $6 folded title, $7 priority or null, $8 status or null, $9 id of the
 * feed entry, $10 the actor's name, $11 name of the priority.
 */
export const issuePatch = (() => {
  const wasClosed = '(select closed from old)';
  const options: WholeIssueOptions = {
    api: 'rest',
    delivery: {
      issueCount: '0',
      closedIssueCount: `s.is_terminal::int - ${wasClosed}`,
      estimatedScope: '0',
      closedEstimate: `(s.is_terminal::int - ${wasClosed}) * coalesce(i.estimate_value, 0)`,
    },
  };
  return `
with old as materialized (
  select i.id, i.team_id, i.status_rank, (i.status_rank >= 40000)::int as closed, i.delivery_id, i.project_id, i.estimate_value
  from issue i where i.workspace_id = $1 and i.deleted_utc is null and i.number = $4
    and i.team_id = (select id from team where workspace_id = $1 and code = $3) for no key update),
chosen as materialized (
  select s.* from old join status s on s.workspace_id = $1 and s.team_id = old.team_id and s.id = $8),
changed as (
  update issue i set title = coalesce($5, i.title), title_fold = coalesce($6, i.title_fold),
    priority = coalesce($7, i.priority), status_id = coalesce((select id from chosen), i.status_id),
    status_rank = coalesce((select rank from chosen), i.status_rank),
    closed_utc = case when $8::uuid is null then i.closed_utc
      when not (select is_terminal from chosen) then null
      when old.closed = 1 then i.closed_utc else greatest(i.last_activity_utc, clock_timestamp()) end,
    updated_utc = greatest(i.last_activity_utc, clock_timestamp()),
    last_activity_utc = greatest(i.last_activity_utc, clock_timestamp()),
    activity_count = i.activity_count + 1, revision = i.revision + 1
  from old where i.workspace_id = $1 and i.id = old.id and ($8::uuid is null or exists (select from chosen))
  returning i.*),
entered as (
  insert into activity (workspace_id, issue_id, sort_order, id, event_type, actor_user_account_id, occurred_utc, icon_css, text)
  select $1, id, activity_count, $9, 'issue.updated.v1', $2, last_activity_utc, 'icon-pen',
    $10 || ' changed ' || concat_ws(', ', case when $5::text is not null then 'the title' end,
      'the status to ' || (select name from chosen), 'the priority to ' || $11::text) from changed),
in_delivery as (
  insert into delivery_count as c (workspace_id, delivery_id, slot, closed_issue_count, closed_estimate)
  select $1, n.delivery_id, ${slot}, delta, delta * coalesce(n.estimate_value, 0)
  from changed n, old, lateral (select (n.status_rank >= 40000)::int - old.closed as delta) d
  where n.delivery_id is not null and delta <> 0
  on conflict (workspace_id, delivery_id, slot) do update set
    closed_issue_count = c.closed_issue_count + excluded.closed_issue_count,
    closed_estimate = c.closed_estimate + excluded.closed_estimate),
in_project as (
  insert into project_count as c (workspace_id, project_id, slot, issue_count, completed_issue_count)
  select $1, n.project_id, ${slot}, (n.status_rank < 50000)::int - (old.status_rank < 50000)::int,
    (n.status_rank / 10000 = 4)::int - (old.status_rank / 10000 = 4)::int
  from changed n, old where n.project_id is not null and n.status_rank / 10000 <> old.status_rank / 10000
    and (n.status_rank >= 40000 or old.status_rank >= 40000)
  on conflict (workspace_id, project_id, slot) do update set issue_count = c.issue_count + excluded.issue_count,
    completed_issue_count = c.completed_issue_count + excluded.completed_issue_count)
select row_to_json(x)::text from (select ${wholeIssue(options)} from changed i ${wholeIssueJoins(options)}) x`;
})();
