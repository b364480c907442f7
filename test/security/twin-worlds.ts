import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../src/db/tables/tables.ts';
import type { Answer } from '../support/app.ts';
import { dataOf } from '../graph/graph-answer.ts';
import { addWorld, startWorld, type World } from '../graph/world.ts';
import { type Candidates, readCandidates } from './candidates.ts';

/** Two workspaces of the same shape on one server: that of the caller, and one that he must not learn anything of. */
export interface TwinWorlds {
  here: World;
  there: World;
  /** What is in each, by the kinds of ids. */
  own: Candidates;
  foreign: Candidates;
  stop(): Promise<void>;
}

/** Codes and keys of the other workspace begin with this letter, of things that are nowhere with that. */
const foreignLetter = 'X';
export const nowhereLetter = 'Q';

/** Starts both; codes and keys, which are the same words in each by the fixture, are told apart by their first letter. */
export async function startTwins(): Promise<TwinWorlds> {
  const here = await startWorld('here');
  const there = await addWorld(here.app, 'there');
  const { unscoped } = here.app.database;
  const { workspaceId } = there.workspace;
  for (const [table, column] of [
    ['team', 'code'],
    ['project', 'key'],
  ] as const) {
    await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${foreignLetter} || substr(${sql.ref(column)}, 2)
      where workspace_id = ${workspaceId}`.execute(unscoped);
  }
  await countAnew(unscoped);
  await logFeeds(unscoped);
  // Besides those that ask: tokens to be named, made by a member, so that the audit names somebody.
  for (const world of [here, there]) {
    dataOf(
      await world.ask(
        'mutation { accessTokenCreate(input: { name: "named", scopes: ["teams:read"] }) { accessToken { id } } }',
      ),
    );
  }
  return {
    here,
    there,
    own: await readCandidates(unscoped, here.workspace.workspaceId),
    foreign: await readCandidates(unscoped, workspaceId),
    stop: () => here.stop(),
  };
}

/** The fixture's counts are awkward on purpose; writes need those that its rows come to. */
async function countAnew(unscoped: Kysely<Tables>): Promise<void> {
  await sql`update issue i set
    activity_count = (select count(*) from activity a where (a.workspace_id, a.issue_id) = (i.workspace_id, i.id)),
    comment_count = (select count(*) from comment c
      where (c.workspace_id, c.issue_id) = (i.workspace_id, i.id) and c.deleted_utc is null),
    link_count = (select count(*) from issue_link l
      where (l.workspace_id, l.issue_id) = (i.workspace_id, i.id) and l.deleted_utc is null),
    sub_issue_count = (select count(*) from issue s
      where (s.workspace_id, s.parent_issue_id) = (i.workspace_id, i.id) and s.deleted_utc is null)`.execute(
    unscoped,
  );
  await sql`insert into team_counter (workspace_id, team_id, next_issue_number, gone_issue_count)
    select workspace_id, team_id, max(number) + 1, max(number) - count(*) filter (where deleted_utc is null)
    from issue group by workspace_id, team_id
    on conflict (workspace_id, team_id) do update
      set (next_issue_number, gone_issue_count) = (excluded.next_issue_number, excluded.gone_issue_count)`.execute(
    unscoped,
  );
}

/** The fixture has no log; here it tells what the feeds of the issues do, and how the sub-issues were made. */
async function logFeeds(unscoped: Kysely<Tables>): Promise<void> {
  await sql`insert into change (workspace_id, position, tag, id, sort_order, event_type, occurred_utc,
      actor_user_account_id, issue_id, team_id, subject_id, fields, origin)
    select workspace_id, row_number() over (partition by workspace_id order by id), 1, id, sort_order, event_type,
      occurred_utc, actor_user_account_id, issue_id, team_id, issue_id, fields, 1
    from (
      select a.workspace_id, a.id, a.sort_order, 'issue.updated.v1' as event_type, a.occurred_utc,
        a.actor_user_account_id, a.issue_id, i.team_id, '{title}'::text[] as fields
      from activity a join issue i on (i.workspace_id, i.id) = (a.workspace_id, a.issue_id)
      union all
      select workspace_id, id, 0, 'issue.created.v1', created_utc, reporter_user_account_id, id, team_id, '{}'
      from issue where parent_issue_id is not null
    ) logged`.execute(unscoped);
  await sql`insert into change_head (workspace_id, position, tag)
    select workspace_id, max(position), 1 from change group by 1`.execute(unscoped);
}

/** Headers that may differ between two answers: the date, timing, quota, and the id of the request. */
const volatile = /^(date|server-timing|x-request-id|ratelimit(-policy)?|x-ratelimit-.*)$/;

/** A body's length is compared, which compression makes a matter of chance. */
export const uncompressed = { 'Accept-Encoding': 'identity' };

/** All that a client could tell two answers apart by, with `sent` blotted out where it is echoed. */
export function seenIn(answer: Answer, sent: unknown = ''): string {
  const headers = [...answer.headers].filter(([name]) => !volatile.test(name));
  const body = JSON.stringify(answer.body, (name, value: unknown) =>
    name === 'requestId' ? undefined : value,
  );
  const text = [
    answer.status,
    `${answer.statements} statements`,
    ...headers.map((header) => header.join(': ')),
    body,
  ].join('\n');
  const echoed = [sent].flat().filter((each) => typeof each === 'string' && each !== '');
  const blotted = echoed.reduce<string>((seen, each) => seen.replaceAll(String(each), '«sent»'), text);
  return blotted.replace(/\bWy[IJ][\w-]+/g, placeOf);
}

/** What a cursor says but for its fingerprint, which is a hash of the filter that was sent. */
function placeOf(cursor: string): string {
  const [, value, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
  return JSON.stringify([value, id]);
}

/** The janitor takes the others away when it likes. */
const kept = sql` and uploaded_utc is not null and deleted_utc is null`;

/** A digest of every row of a workspace, but for the times at which its tokens were used. */
export async function digestOf({ here }: TwinWorlds, workspaceId: string): Promise<Record<string, string>> {
  const { unscoped } = here.app.database;
  const { rows: tables } = await sql<{ name: string }>`select table_name as name
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = 'public' and table_type = 'BASE TABLE' and column_name = 'workspace_id'
      and table_name not like 'change%'`.execute(unscoped);
  // The sequencer moves changes from one table to the other at its own time.
  const changes = sql`select 'changes' as name, md5(coalesce(string_agg(id::text, ',' order by id), '')) as digest from (
    select change_id as id from change_inbox where workspace_id = ${workspaceId}
    union all select id from change where workspace_id = ${workspaceId}) rows`;
  const digests = tables.map(
    ({
      name,
    }) => sql`select ${sql.lit(name)} as name, md5(coalesce(string_agg(row, ',' order by row), '')) as digest
      from (select (to_jsonb(t) - 'last_used_utc')::text as row from ${sql.table(name)} t
        where workspace_id = ${workspaceId}${name === 'attachment' ? kept : sql``}) rows`,
  );
  const { rows } = await sql<{
    name: string;
    digest: string;
  }>`${sql.join([...digests, changes], sql` union all `)}`.execute(unscoped);
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}
