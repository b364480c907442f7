/**
 * SQL for everything except issues and comments. `bench.id(kind, n)` computes ids that look like UUIDv7, so that later
 * statements can refer to rows without searching for them.
 */
export const directory = `
insert into workspace (workspace_id, name) values (bench.id('workspace', 0), 'Benchmark');

insert into user_account (id) select bench.id('user', n) from generate_series(0, 199) n;
insert into member (workspace_id, id, user_account_id, display_name, display_name_fold, avatar_url,
                    email_address, email_address_fold, principal_kind, role, status)
select bench.id('workspace', 0), bench.id('member', n), bench.id('user', n), name, lower(name),
       case when n % 5 < 4 then 'https://avatars.example.com/' || n || '.png' end,
       'member' || n || '@example.com', 'member' || n || '@example.com', 1,
       case when n = 0 then 1 when n < 4 then 2 else 3 end, 2
from (select n, (array['Ada','Grace','Alan','Edsger','Barbara','Donald','Tony','Leslie','Frances','Niklaus'])[n % 10 + 1]
             || ' ' || (array['Hill','Woods','Rivers','Stone','Field','Lake','Marsh','Banks','Moor','Dale'])[n / 10 % 10 + 1]
             || ' ' || n as name from generate_series(0, 199) n) people;

insert into access_token (workspace_id, id, user_account_id, name, token_hash, scopes)
values (bench.id('workspace', 0), bench.id('token', 0), bench.id('user', 0), 'benchmark', :tokenHash, :scopes);
-- Triggers are off here, and earlier checkouts do not have the table.
do $do$ begin
  if to_regclass('token_route') is not null then
    insert into token_route (token_hash, workspace_id) select token_hash, workspace_id from access_token;
  end if;
end $do$;

insert into team (workspace_id, id, name, name_fold, code, slug, description, icon_css, color, state,
                  lead_user_account_id, member_count, active_project_count, deliveries_enabled)
select bench.id('workspace', 0), bench.id('team', n), name, lower(name), 'T' || lpad(n::text, 2, '0'), 'team-' || n,
       'Everything that team ' || n || ' looks after, from the first sketch to the last fix.', 'icon-team-' || n % 8,
       '#' || lpad(to_hex(n * 5003 % 16777216), 6, '0'), 1, bench.id('user', n * 4 % 200), 12, 8, true
from (select n, (array['Platform','Payments','Search','Mobile','Growth','Support','Design','Data','Security','Infra'])[n % 10 + 1]
             || ' ' || n as name from generate_series(0, :teams - 1) n) teams;
insert into team_member (workspace_id, team_id, user_account_id)
select bench.id('workspace', 0), bench.id('team', t), bench.id('user', (t * 4 + m) % 200)
from generate_series(0, :teams - 1) t, generate_series(0, 11) m;

insert into status (workspace_id, id, team_id, name, name_fold, description, color, category, position, is_initial, is_terminal)
select bench.id('workspace', 0), bench.id('status', t * 5 + s), bench.id('team', t), name, lower(name),
       'What is ' || lower(name) || '.', '#' || lpad(to_hex(s * 3000000 + 99), 6, '0'), s + 1, s, s = 1, s >= 3
from generate_series(0, :teams - 1) t, generate_series(0, 4) s,
     lateral (select (array['Backlog','Todo','In Progress','Done','Canceled'])[s + 1] as name) names;

-- 20 of the workspace, then 10 of each team.
insert into label (workspace_id, id, team_id, name, name_fold, description, color)
select bench.id('workspace', 0), bench.id('label', n), case when n >= 20 then bench.id('team', (n - 20) / 10) end,
       name, lower(name), 'What is about ' || lower(name) || '.', '#' || lpad(to_hex(n * 31337 % 16777216), 6, '0')
from (select n, (array['Bug','Feature','Chore','Docs','Regression','Customer','Tech debt','Question','Spike','Legal'])[n % 10 + 1]
             || ' ' || n as name from generate_series(0, 19 + 10 * :teams) n) labels;

insert into delivery (workspace_id, id, team_id, number, name, name_fold, description, starts_on, ends_on, state)
select bench.id('workspace', 0), bench.id('delivery', t * 10 + d), bench.id('team', t), d + 1, 'Cycle ' || d + 1,
       'cycle ' || d + 1, 'Two weeks of work.', date '2026-07-13' + d * 14, date '2026-07-26' + d * 14,
       case when d < 9 then 3 else 2 end
from generate_series(0, :teams - 1) t, generate_series(0, 9) d;

insert into project_status (workspace_id, id, name, name_fold, color, state, position)
select bench.id('workspace', 0), bench.id('pstatus', s), name, lower(name), '#' || lpad(to_hex(s * 2500000), 6, '0'), s + 1, s
from generate_series(0, 4) s,
     lateral (select (array['Planned','In Progress','Paused','Completed','Canceled'])[s + 1] as name) names;
insert into project (workspace_id, id, team_id, key, name, name_fold, summary, description, slug, icon_css, color,
                     status_id, state, status_position, priority, lead_user_account_id, lead_display_name_fold)
select bench.id('workspace', 0), bench.id('project', t * 20 + p), bench.id('team', t), 'P' || t * 20 + p, name, lower(name),
       'Why and how of it.', bench.words(p * 31 + t, 300), 'project-' || t * 20 + p, 'icon-project-' || p % 8,
       '#' || lpad(to_hex(p * 70001 + t), 6, '0'), bench.id('pstatus', s), s + 1, s, p % 5,
       lead.user_account_id, lead.display_name_fold
from generate_series(0, :teams - 1) t, generate_series(0, 19) p,
     lateral (select case when p < 8 then 1 else p % 4 + (p % 4 > 0)::int end as s) states,
     lateral (select (array['Faster','Simpler','Safer','New','Unified'])[p % 5 + 1] || ' '
       || (array['checkout','onboarding','search','reports','billing','editor'])[(p + t) % 6 + 1] || ' ' || t * 20 + p as name) names,
     lateral (select user_account_id, display_name_fold from member where id = bench.id('member', (t * 4 + p) % 200)) lead;
update team set active_project_count =
  (select count(*) from project where project.team_id = team.id and project.state = 2);
insert into project_member (workspace_id, project_id, user_account_id)
select bench.id('workspace', 0), bench.id('project', p), bench.id('user', (p + m * 7) % 200)
from generate_series(0, :teams * 20 - 1) p, generate_series(0, 3) m;
insert into project_label (workspace_id, project_id, label_id)
select bench.id('workspace', 0), bench.id('project', p), bench.id('label', p % 20) from generate_series(0, :teams * 20 - 1) p;
`;
