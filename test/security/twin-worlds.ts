import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../src/db/tables/tables.ts';
import type { Answer } from '../support/app.ts';
import { dataOf } from '../graph/graph-answer.ts';
import { addWorld, startWorld, type World } from '../graph/world.ts';
import { type Candidates, readCandidates } from './candidates.ts';

/** Two workspaces with the same content on one server. The caller belongs to one, and must learn nothing about the other. */
export interface TwinWorlds {
  here: World;
  there: World;
  /** The objects of each workspace. */
  own: Candidates;
  foreign: Candidates;
  stop(): Promise<void>;
}

/** Codes and keys of the other workspace start with the first letter; those that exist nowhere start with the second. */
const foreignLetter = 'X';
export const nowhereLetter = 'Q';

/** Creates both. The fixture gives them the same codes and keys, so the first letters are changed in the other one. */
export async function startTwins(): Promise<TwinWorlds> {
  const here = await startWorld('here', { sharesDatabase: false });
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
  for (const world of [here, there]) {
    await countAnew(unscoped, world.workspace.workspaceId);
    await logFeeds(unscoped, world.workspace.workspaceId);
  }
  // Further tokens that requests can name. A member creates them, so that the audit log names a member.
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

/** Corrects the stored counts, which the fixture sets to wrong values on purpose, because writes need right ones. */
async function countAnew(unscoped: Kysely<Tables>, workspaceId: string): Promise<void> {
  await sql`update issue i set
    activity_count = (select count(*) from activity a where (a.workspace_id, a.issue_id) = (i.workspace_id, i.id)),
    comment_count = (select count(*) from comment c
      where (c.workspace_id, c.issue_id) = (i.workspace_id, i.id) and c.deleted_utc is null),
    link_count = (select count(*) from issue_link l
      where (l.workspace_id, l.issue_id) = (i.workspace_id, i.id) and l.deleted_utc is null),
    sub_issue_count = (select count(*) from issue s
      where (s.workspace_id, s.parent_issue_id) = (i.workspace_id, i.id) and s.deleted_utc is null)
    where workspace_id = ${workspaceId}`.execute(unscoped);
  await sql`insert into team_counter (workspace_id, team_id, next_issue_number, gone_issue_count)
    select workspace_id, team_id, max(number) + 1, max(number) - count(*) filter (where deleted_utc is null)
    from issue where workspace_id = ${workspaceId} group by workspace_id, team_id
    on conflict (workspace_id, team_id) do update
      set (next_issue_number, gone_issue_count) = (excluded.next_issue_number, excluded.gone_issue_count)`.execute(
    unscoped,
  );
}

/**
 * Fills the log of changes, which the fixture leaves empty, from the feeds and the sub-issues. The janitor would remove changes of
 * the time of the fixture.
 */
async function logFeeds(unscoped: Kysely<Tables>, workspaceId: string): Promise<void> {
  await sql`insert into change (workspace_id, position, tag, id, sort_order, event_type, occurred_utc,
      actor_user_account_id, issue_id, team_id, subject_id, fields, origin)
    select workspace_id, row_number() over (partition by workspace_id order by id), 1, id, sort_order, event_type,
      now(), actor_user_account_id, issue_id, team_id, issue_id, fields, 1
    from (
      select a.workspace_id, a.id, a.sort_order, 'issue.updated.v1' as event_type,
        a.actor_user_account_id, a.issue_id, i.team_id, '{title}'::text[] as fields
      from activity a join issue i on (i.workspace_id, i.id) = (a.workspace_id, a.issue_id)
      where a.workspace_id = ${workspaceId}
      union all
      select workspace_id, id, 0, 'issue.created.v1', reporter_user_account_id, id, team_id, '{}'
      from issue where workspace_id = ${workspaceId} and parent_issue_id is not null
    ) logged`.execute(unscoped);
  await sql`insert into change_head (workspace_id, position, tag)
    select workspace_id, max(position), 1 from change where workspace_id = ${workspaceId} group by 1`.execute(
    unscoped,
  );
}

/** Headers that may differ between two equal answers: the date, timing, quota, and the id of the request. */
const volatile = /^(date|server-timing|x-request-id|ratelimit(-policy)?|x-ratelimit-.*)$/;

/** The length of bodies is compared, and compression would make it depend on the echoed values. */
export const uncompressed = { 'Accept-Encoding': 'identity' };

/** Everything by which a client could distinguish two answers, with echoes of `sent` blanked. */
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

/** The content of a cursor without its fingerprint, which is a hash of the filter. */
function placeOf(cursor: string): string {
  const [, value, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
  return JSON.stringify([value, id]);
}

/** Other attachments may be removed by the janitor at any moment. */
const kept = sql` and uploaded_utc is not null and deleted_utc is null`;

/** Returns a digest of the rows of a workspace by table, ignoring when tokens were last used. */
export async function digestOf({ here }: TwinWorlds, workspaceId: string): Promise<Record<string, string>> {
  const { unscoped } = here.app.database;
  const { rows: tables } = await sql<{ name: string }>`select table_name as name
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = 'public' and table_type = 'BASE TABLE' and column_name = 'workspace_id'
      and table_name not like 'change%'`.execute(unscoped);
  // The sequencer moves changes from one table to the other at any moment, so both are digested as one.
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
