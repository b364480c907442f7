/**
 * SQL for issues. Issue n belongs to team n % teams and is number k = n / teams in it. Every second issue
 * has three comments and a recent update, so that dashboards show it. Every 40th has 30 comments and every 400th 130.
 */
export const issues = `
insert into issue (workspace_id, id, team_id, number, title, title_fold, description, reporter_user_account_id,
  parent_issue_id, status_id, status_rank, priority, primary_assignee_user_account_id, project_id, delivery_id,
  estimate_value, due_date, comment_count, activity_count, sub_issue_count,
  created_utc, updated_utc, last_activity_utc, last_comment_utc, closed_utc, label_ids, assignee_user_account_ids)
select bench.id('workspace', 0), bench.issue_id(n, :step), bench.id('team', t), k + 1, title, lower(title),
  bench.words(n, 500 + n % 400), bench.id('user', n % 200),
  case when k % 20 = 7 then bench.issue_id(n - 7 * :teams, :step) end,
  bench.id('status', t * 5 + s), (s + 1) * 10000 + s, n % 5,
  case when n % 10 < 7 then bench.id('user', (t * 4 + k % 12) % 200) end,
  case when k % 5 < 3 then bench.id('project', t * 20 + k / 5 % 20) end,
  case when k % 4 < 2 then bench.id('delivery', t * 10 + k / 4 % 10) end,
  case when k % 3 > 0 then k % 8 end, case when n % 3 = 0 then date '2026-11-01' + n % 60 end,
  comments, comments, case when k % 20 = 0 and n + 7 * :teams < :issues then 1 else 0 end,
  created, case when k % 2 = 1 then timestamptz '2026-11-01' + bench.spread(n) * interval '15 days'
                else least(created + interval '3 days', timestamptz '2026-10-31') end,
  case when comments > 0 then created + comments * interval '1 hour' end,
  case when comments > 0 then created + comments * interval '1 hour' end,
  case when s >= 3 then created + interval '2 days' end,
  array(select case when l = 0 then bench.id('label', n % 20) else bench.id('label', 20 + t * 10 + k % 10) end as label_id
        from generate_series(0, 1) l where l < n % 4 order by label_id),
  case when n % 10 < 7 then
    case when (t * 4 + k % 12) % 200 <> n % 200 and (k + 1) % 4 = 0
      then array[bench.id('user', (t * 4 + k % 12) % 200), bench.id('user', n % 200)]
      else array[bench.id('user', (t * 4 + k % 12) % 200)] end
    else '{}' end
from generate_series(0, :issues - 1) n,
  lateral (select n % :teams as t, n / :teams as k) places,
  lateral (select bench.comments_of(k) as comments, bench.created(n, :step) as created,
                  (array[0,1,1,1,2,2,3,3,3,4])[(k / 2 * 7 + t) % 10 + 1] as s,
                  initcap(bench.words(n * 7, 25 + n % 40)) || ' ' || n as title) facts;
`;

/** SQL for what follows from the issues: links to their labels and people, comments, their feed, and counts. */
export const surroundings = `
insert into team_counter (workspace_id, team_id, next_issue_number)
select workspace_id, team_id, max(number) + 1 from issue group by 1, 2;

insert into issue_assignee (workspace_id, issue_id, user_account_id, position)
select workspace_id, id, assignee, place - 1
from issue, unnest(assignee_user_account_ids) with ordinality as assigned(assignee, place);

insert into issue_subscription (workspace_id, issue_id, user_account_id)
select workspace_id, id, reporter_user_account_id from issue
union
select workspace_id, id, primary_assignee_user_account_id from issue where primary_assignee_user_account_id is not null;

insert into issue_label (workspace_id, issue_id, label_id)
select workspace_id, id, unnest(label_ids) from issue;

insert into issue_role_assignment (workspace_id, issue_id, role, user_account_id)
select bench.id('workspace', 0), bench.issue_id(n, :step), 'reviewer', bench.id('user', n * 3 % 200)
from generate_series(0, :issues - 1) n where n / :teams % 10 = 3;

insert into comment (workspace_id, id, issue_id, author_user_account_id, body, created_utc, updated_utc)
select bench.id('workspace', 0), bench.uuid(20, at, n::bigint * 200 + c), bench.issue_id(n, :step),
       bench.id('user', (n + c * 7) % 200), bench.words(n + c * 131, 30 + (n + c) % 40), at, at
from generate_series(0, :issues - 1) n, generate_series(1, :comments) c,
     lateral (select bench.created(n, :step) + c * interval '1 hour' as at) times;

insert into activity (workspace_id, issue_id, sort_order, id, event_type, actor_user_account_id, occurred_utc, icon_css, text)
select c.workspace_id, c.issue_id, row_number() over (partition by c.issue_id order by c.created_utc),
       bench.uuid(21, c.created_utc, ('x' || right(c.id::text, 12))::bit(48)::bigint), 'issue-comment.created.v1',
       c.author_user_account_id, c.created_utc, 'icon-comment', m.display_name || ' commented'
from comment c join member m on m.user_account_id = c.author_user_account_id;

insert into project_count (workspace_id, project_id, slot, issue_count, completed_issue_count)
select workspace_id, project_id, 0, count(*) filter (where status_rank < 50000),
       count(*) filter (where status_rank / 10000 = 4)
from issue where project_id is not null group by 1, 2;
insert into delivery_count (workspace_id, delivery_id, slot, issue_count, closed_issue_count, estimated_scope, closed_estimate)
select workspace_id, delivery_id, 0, count(*), count(*) filter (where status_rank >= 40000),
       coalesce(sum(estimate_value), 0), coalesce(sum(estimate_value) filter (where status_rank >= 40000), 0)
from issue where delivery_id is not null group by 1, 2;
`;
