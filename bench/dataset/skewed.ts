/**
 * SQL for issues as they are in a large workspace that has grown for years, for the check of all shapes: one team has half of
 * them, and people, labels, projects and deliveries follow Zipf's law. One in seven is open, most of those among the newest, one in
 * fifty is urgent, half have no label and three in ten no assignee.
 */
export const skewedIssues = `
create function bench.uniform(n int, kind int) returns double precision immutable language sql as $$
  select (hashint8extended(n, kind) & 2147483647) / 2147483648.0 $$;
-- A number from 0 to size - 1; the smallest come most often.
create function bench.zipf(size int, u double precision) returns int immutable language sql as $$
  select least(size, floor(power(size + 1, u))::int) - 1 $$;
insert into issue (workspace_id, id, team_id, number, title, title_fold, description, reporter_user_account_id,
  parent_issue_id, status_id, status_rank, priority, primary_assignee_user_account_id, project_id, delivery_id,
  estimate_value, due_date, comment_count, activity_count, sub_issue_count,
  created_utc, updated_utc, last_activity_utc, last_comment_utc, closed_utc, label_ids, assignee_user_account_ids)
select bench.id('workspace', 0), bench.issue_id(n, :step), bench.id('team', t),
  row_number() over (partition by t order by n), title, lower(title),
  bench.words(n, 100 + n % 200), bench.id('user', bench.zipf(200, bench.uniform(n, 1))),
  case when n % 20 = 7 then bench.issue_id(n - 7, :step) end,
  bench.id('status', t * 5 + s), (s + 1) * 10000 + s,
  case when bench.uniform(n, 2) < 0.02 then 1 else (array[0, 2, 3, 4])[1 + n % 4] end,
  case when assignee >= 0 then bench.id('user', assignee) end,
  case when bench.uniform(n, 3) < 0.7 then bench.id('project', t * 20 + bench.zipf(20, bench.uniform(n, 4))) end,
  case when bench.uniform(n, 5) < 0.5 then bench.id('delivery', t * 10 + bench.zipf(10, bench.uniform(n, 6))) end,
  case when n % 3 > 0 then bench.zipf(21, bench.uniform(n, 7)) end,
  case when n % 3 = 0 then date '2025-01-01' + (bench.uniform(n, 8) * 720)::int end,
  comments, comments, case when n % 20 = 0 and n + 7 < :issues then 1 else 0 end,
  created, created + power(bench.uniform(n, 9), 3) * interval '200 days',
  case when comments > 0 then created + interval '1 hour' end,
  case when comments > 0 then created + interval '1 hour' end,
  case when s >= 3 then created + power(bench.uniform(n, 10), 2) * interval '90 days' end,
  array(select distinct case when l < 20 then bench.id('label', l) else bench.id('label', t * 10 + l) end
        from generate_series(1, labels) i, lateral (select bench.zipf(30, bench.uniform(n, 20 + i)) as l) drawn order by 1),
  case when assignee >= 0 then array[bench.id('user', assignee)] else '{}' end
from generate_series(0, :issues - 1) n,
  lateral (select case when bench.uniform(n, 11) < 0.5 then 0 else 1 + bench.zipf(:teams - 1, bench.uniform(n, 12)) end as t,
                  case when bench.uniform(n, 13) < 0.3 then -1 else bench.zipf(200, bench.uniform(n, 14)) end as assignee,
                  case when n % 2 = 0 then 0 else 1 + n / 2 % 2 end as labels,
                  case when n % 7 = 0 then 1 else 0 end as comments,
                  case when bench.uniform(n, 15) < case when n > 0.8 * :issues then 0.55 else 0.04 end
                       then (array[0, 1, 2])[1 + n % 3] else 3 + (bench.uniform(n, 16) < 0.15)::int end as s,
                  bench.created(n, :step) as created,
                  initcap(bench.words(n * 7, 25 + n % 40)) || ' ' || n as title) facts;
`;

/** One issue in a hundred was deleted. */
export const deletedIssues = `
update issue set deleted_utc = updated_utc where number % 97 = 0;
update team_counter c set gone_issue_count = (
  select count(*) from issue i where i.workspace_id = c.workspace_id and i.team_id = c.team_id and i.deleted_utc is not null);
`;
