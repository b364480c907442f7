/**
 * Functions of rows, with which PostGraphile shows fields that are not columns. Each run creates them again, so that
 * they can change without filling the tables again.
 */
export const views = `
create or replace function bench.project_progress_percent(project project) returns int stable language sql as $$
  select coalesce(round(100.0 * sum(completed_issue_count) / nullif(sum(issue_count), 0)), 0)::int
  from project_count c where c.workspace_id = project.workspace_id and c.project_id = project.id $$;
create or replace function bench.issue_is_subscribed(issue issue) returns boolean stable language sql as $$
  select exists (select from issue_subscription s where s.workspace_id = issue.workspace_id and s.issue_id = issue.id
    and s.user_account_id = current_setting('bench.viewer')::uuid) $$;
drop function if exists bench.delivery_totals(delivery);
drop type if exists bench.delivery_sums;
create type bench.delivery_sums as (issue_count int, closed_issue_count int, estimated_scope int, closed_estimate int);
create function bench.delivery_totals(delivery delivery) returns bench.delivery_sums stable language sql as $$
  select row(sum(issue_count), sum(closed_issue_count), sum(estimated_scope), sum(closed_estimate))::bench.delivery_sums
  from delivery_count c where c.workspace_id = delivery.workspace_id and c.delivery_id = delivery.id $$;
`;
