/**
 * SQL for what a workspace collects beside issues. Half of the rows of each table belong to one parent: an issue that everybody comments
 * on, a webhook that is told of everything. The comments come before `surroundings`, which adds their feed.
 */
export const crowdedComments = `
create function bench.crowded_id(kind int, n int) returns uuid stable language sql as $$
  select bench.uuid(kind, timestamptz '2026-10-01 00:00:00+00' + n * interval '1 second', n) $$;
insert into comment (workspace_id, id, issue_id, parent_comment_id, parent_author_user_account_id, author_user_account_id, body,
  created_utc, updated_utc)
select bench.id('workspace', 0), bench.crowded_id(20, n), bench.issue_id(0, :step),
  case when n % 10 = 9 then bench.crowded_id(20, n / 1000 * 1000) end, case when n % 10 = 9 then bench.id('user', 0) end,
  bench.id('user', bench.zipf(200, bench.uniform(n, 31))), bench.words(n, 30 + n % 40), at, at
from generate_series(0, :issues / 20 - 1) n,
  lateral (select timestamptz '2026-10-01 00:00:00+00' + n * interval '1 second' as at) times;
update issue set comment_count = comment_count + :issues / 20, activity_count = activity_count + :issues / 20
where id = bench.issue_id(0, :step);
`;

export const crowds = `
create function bench.crowded(n int, size int) returns int immutable language sql as $$
  select case when n % 2 = 0 then 0 else 1 + (n / 2 * 7919::bigint % (size - 1))::int end $$;
insert into issue_link (workspace_id, id, issue_id, url, url_hash, title, created_utc, created_by_user_account_id)
select bench.id('workspace', 0), bench.crowded_id(22, n), bench.issue_id(bench.crowded(n, :issues), :step),
  'https://example.com/' || n, sha256(n::text::bytea), bench.words(n, 20), timestamptz '2026-10-01' + n * interval '1 second',
  bench.id('user', n % 200)
from generate_series(0, :issues / 8 - 1) n;
update issue set link_count = found.count
from (select issue_id, count(*) from issue_link group by 1) found where found.issue_id = issue.id;
insert into attachment (workspace_id, id, issue_id, file_name, content_type, size_bytes, uploaded_by_user_account_id, created_utc,
  uploaded_utc)
select bench.id('workspace', 0), bench.crowded_id(23, n), bench.issue_id(bench.crowded(n, :issues), :step),
  'file-' || n || '.png', (array['image/png', 'text/plain', 'application/pdf'])[1 + bench.zipf(3, bench.uniform(n, 32))], n % 100000,
  bench.id('user', bench.zipf(200, bench.uniform(n, 33))), at, case when n % 500 > 0 then at end
from generate_series(0, :issues / 8 - 1) n,
  lateral (select timestamptz '2026-10-01' + n * interval '1 second' as at) times;
insert into agent_installation (workspace_id, id, application_id, agent_user_account_id, is_default)
values (bench.id('workspace', 0), bench.crowded_id(24, 0), bench.crowded_id(24, 0), bench.id('user', 0), true);
-- One thread in fifty is as long as a thread can be, at a million issues.
insert into agent_thread (workspace_id, id, issue_id, agent_user_account_id, status, last_message_author_type, last_message_type,
  current_turn_number, message_count, last_message_utc, started_utc)
select issue.workspace_id, bench.crowded_id(25, n), issue.id, bench.id('user', 0), 1, 1, 1, 1,
  case when n % 50 = 0 then :issues / 1000 else 3 end, timestamptz '2026-10-30', timestamptz '2026-10-01'
from generate_series(0, 999) n join issue on issue.id = bench.issue_id(n, :step) and issue.deleted_utc is null;
insert into agent_thread_message (workspace_id, id, thread_id, issue_id, sort_order, agent_user_account_id, author_user_account_id,
  author_type, message_type, turn_number, body, created_utc)
select t.workspace_id, bench.uuid(26, at, ('x' || right(t.id::text, 6))::bit(24)::int * 1000::bigint + m), t.id, t.issue_id, m,
  t.agent_user_account_id, bench.id('user', m % 2), 1 + m % 2, 1 + m % 3, 1 + m / 10, bench.words(m, 200), at
from agent_thread t, generate_series(1, t.message_count) m, lateral (select t.started_utc + m * interval '1 minute' as at) times;
insert into webhook (workspace_id, id, url, secret, user_account_id, scopes, position, tag)
select bench.id('workspace', 0), bench.crowded_id(27, n), 'https://example.com/hook/' || n, '\\x00', bench.id('user', 0),
  array['issues:read'], :issues / 4, 1
from generate_series(0, 19) n;
insert into webhook_delivery (workspace_id, id, webhook_id, position, change_id, issue_id, event_type, state, body, attempt_count,
  created_utc, finished_utc)
select bench.id('workspace', 0), bench.crowded_id(28, n), bench.crowded_id(27, bench.crowded(n, 20)), n, bench.crowded_id(30, n),
  bench.issue_id(n, :step), case when n % 50 = 0 then 'issue.created.v1' else 'issue.updated.v1' end,
  case when bench.uniform(n, 34) < 0.01 then 3 else 2 end, bench.words(n, 300), 1, at, at
from generate_series(0, :issues / 8 - 1) n,
  lateral (select timestamptz '2026-10-30' + n * interval '1 second' as at) times;
insert into audit_entry (workspace_id, id, occurred_utc, act, actor_kind, actor_name, user_account_id, token_id, subject_kind, subject_id,
  subject_name)
select bench.id('workspace', 0), bench.crowded_id(29, n), timestamptz '2026-01-01' + n * interval '1 minute',
  (array['token.created', 'token.revoked', 'member.changed', 'webhook.created'])[1 + bench.zipf(4, bench.uniform(n, 35))],
  case when n % 3 > 0 then 1 else 2 end, 'Somebody', case when n % 3 > 0 then bench.id('user', bench.zipf(200, bench.uniform(n, 36))) end,
  case when n % 3 > 0 then bench.id('token', 0) end, 'token', 'subject-' || bench.zipf(1000, bench.uniform(n, 37)), 'Something'
from generate_series(0, :issues / 8 - 1) n;
insert into access_token (workspace_id, id, user_account_id, name, token_hash, scopes, created_utc, revoked_utc, expires_utc)
select bench.id('workspace', 0), bench.crowded_id(31, n), bench.id('user', bench.crowded(n, 200)), 'Token ' || n,
  sha256(('token ' || n)::bytea), array['issues:read'], at, case when bench.uniform(n, 38) < 0.1 then at + interval '1 day' end,
  case when n % 4 = 0 then at + interval '90 days' end
from generate_series(0, :issues / 50 - 1) n,
  lateral (select timestamptz '2026-01-01' + n * interval '1 minute' as at) times;
`;
