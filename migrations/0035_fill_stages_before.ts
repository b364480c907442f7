import { type Kysely, sql } from 'kysely';

type Key = readonly [workspaceId: string, issueId: string, sortOrder: number];

/** Fills what issues were before their stages, in the order of the keys of the stages. */
export async function fillSome(
  db: Kysely<unknown>,
  after: Key | undefined,
): Promise<{ written: number; last: Key | undefined }> {
  const isLater = after
    ? sql<boolean>`(workspace_id, issue_id, sort_order) > (${after[0]}::uuid, ${after[1]}::uuid, ${after[2]}::int)`
    : sql<boolean>`true`;
  const { rows } = await sql<{ written: number; last: Key | null }>`
    with next as materialized (
      select workspace_id, issue_id, sort_order from issue_stage where ${isLater}
      order by workspace_id, issue_id, sort_order limit 10000
    ), filled as (
      update issue_stage s set previous_status_id = p.status_id, previous_deleted = coalesce(p.deleted, true)
      from next x left join issue_stage p
        on p.workspace_id = x.workspace_id and p.issue_id = x.issue_id and p.sort_order = x.sort_order - 1
      where s.workspace_id = x.workspace_id and s.issue_id = x.issue_id and s.sort_order = x.sort_order
        and s.previous_deleted is null
      returning 1
    )
    select (select count(*)::int from filled) as written, (
      select json_build_array(workspace_id, issue_id, sort_order) from next
      order by workspace_id desc, issue_id desc, sort_order desc limit 1
    ) as last`.execute(db);
  return { written: rows[0]?.written ?? 0, last: rows[0]?.last ?? undefined };
}
