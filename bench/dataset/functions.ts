/**
 * Functions for the statements that fill the tables, in a schema of their own. Each is a single expression with its
 * correct volatility, because otherwise PostgreSQL would not inline it, and filling would take ten times longer.
 */
export const functions = `
create schema if not exists bench;
create function bench.uuid(kind int, at timestamptz, n bigint) returns uuid immutable language sql as $$
  select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(kind), 3, '0')
    || '8' || lpad(to_hex(n), 15, '0'))::uuid $$;
create function bench.id(kind text, n int) returns uuid stable language sql as $$
  select bench.uuid(array_position(array['workspace','user','member','team','status','label','delivery','pstatus',
    'project','token'], kind), timestamptz '2023-12-01 00:00:00+00' + n * interval '1 second', n) $$;
create function bench.created(n int, step interval) returns timestamptz stable language sql as $$
  select date_trunc('milliseconds', timestamptz '2024-01-01 00:00:00+00' + n * step) $$;
create function bench.issue_id(n int, step interval) returns uuid stable language sql as $$
  select bench.uuid(19, bench.created(n, step), n) $$;
create function bench.comments_of(k int) returns int immutable language sql as $$
  select case when k % 400 = 0 then 130 when k % 40 = 0 then 30 when k % 2 = 1 then 3 else 0 end $$;
create function bench.spread(n int) returns double precision immutable language sql as $$
  select (n::bigint * 7919 % 10007) / 10007.0 $$;
create function bench.words(n int, length int) returns text immutable language sql as $$
  select trim(substr('When the cache is cold the first request waits for every shard and the retry budget is spent before the '
    'second answer comes back so that people see an error page although the data was there all the time. We should '
    'measure where the time goes, keep what rarely changes close to the process, and ask the database once for each '
    'level instead of once for each row. The design says that a page costs the same at any depth because its cursor '
    'names a place in an index and nothing is counted that nobody asked for. A reviewer noticed that the export drops '
    'trailing spaces, which matters for code blocks; a test from the front door would have caught it. Please try the '
    'steps on a small screen too: the toolbar wraps, the second row covers the title and a tap lands on the wrong '
    'button. Rolling back was quick, yet the queue kept growing until the consumers were restarted one by one. Until '
    'the contract is signed we keep both ways alive behind a switch and write down what each of them costs in a month. '
    'Numbers are in the sheet; the summary is that latency fell by a third and nobody had to change a client for it. '
    'Next comes the part that is less fun: deleting the old path, its flags and the three dashboards that watched it. '
    'If anything looks odd after the release, the runbook has the query that tells the two kinds of timeout apart and '
    'the person on call may turn the new path off without asking anyone. Thanks to all who looked at early drafts.'::text, 1 + (n::bigint * 37 % 600)::int, length)) || '.' $$;
`;
