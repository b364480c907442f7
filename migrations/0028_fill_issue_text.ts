import { type Kysely, sql } from 'kysely';

type Key = readonly [workspaceId: string, issueId: string];

/**
 * Copies the titles of the issues that there are, in the order of their keys. Issues that an earlier version writes
 * meanwhile, or afterwards, are copied by the janitor.
 */
export async function fillSome(
  db: Kysely<unknown>,
  after: Key | undefined,
): Promise<{ written: number; last: Key | undefined }> {
  const isLater = after
    ? sql<boolean>`(workspace_id, id) > (${after[0]}::uuid, ${after[1]}::uuid)`
    : sql<boolean>`true`;
  const { rows } = await sql<{ written: number; last: Key | null }>`
    with next as materialized (
      select workspace_id, id, title_fold from issue where ${isLater} order by workspace_id, id limit 10000
    ), filled as (
      insert into issue_text (workspace_id, issue_id, title_fold)
      select workspace_id, id, title_fold from next
      on conflict do nothing
      returning 1
    )
    select (select count(*)::int from filled) as written, (
      select json_build_array(workspace_id, id) from next order by workspace_id desc, id desc limit 1
    ) as last`.execute(db);
  return { written: rows[0]?.written ?? 0, last: rows[0]?.last ?? undefined };
}
