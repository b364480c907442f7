import { type Kysely, sql } from 'kysely';
import { countedSlot, noLabel, tallyKinds } from './tables/tallies.ts';
import type { Tables } from './tables/tables.ts';

/** SQL that counts the issues of a table or a part, which is what the tallies should add up to. */
export function countedTallies(issues: string): string {
  return `
  select i.workspace_id, one.kind, one.group_id, i.team_id, i.status_id, one.priority,
    count(*) as issue_count, coalesce(sum(i.estimate_value), 0)::bigint as estimate_sum
  from ${issues} i cross join lateral (
    values (${tallyKinds.team}, i.team_id, i.priority),
      (${tallyKinds.primaryAssignee}, i.primary_assignee_user_account_id, 0),
      (${tallyKinds.project}, i.project_id, 0), (${tallyKinds.delivery}, i.delivery_id, 0)
    union all
    select ${tallyKinds.label}, label_id, 0 from unnest(coalesce(
      nullif(coalesce(i.label_ids, array(
        select l.label_id from issue_label l where l.workspace_id = i.workspace_id and l.issue_id = i.id)), '{}'),
      array['${noLabel}'::uuid])) label_id
  ) one(kind, group_id, priority)
  where i.deleted_utc is null and one.group_id is not null
  group by 1, 2, 3, 4, 5, 6`;
}

/** SQL that adds up the tallies of all workspaces. */
export const storedTallies = `
  select workspace_id, kind, group_id, team_id, status_id, priority,
    sum(issue_count) as issue_count, sum(estimate_sum)::bigint as estimate_sum
  from issue_tally group by 1, 2, 3, 4, 5, 6`;

const nobody = '00000000-0000-0000-0000-000000000000';
const columns = 'workspace_id, kind, group_id, team_id, status_id, priority, slot, issue_count, estimate_sum';
const key = 'workspace_id, kind, group_id, status_id, priority, slot';

/** The number of issues that one statement counts. It keeps each statement far below the statement timeout of a server. */
const issuesPerStatement = 50_000;

/**
 * Counts all issues, and corrects the tallies by the difference. The transaction sees issues and tallies at one moment. Writes
 * may continue, because they add to the rows of other slots. Of two such transactions at once, one fails, so that no difference
 * is added twice. Returns the number of tallies that were wrong.
 */
export async function recountTallies(
  unscoped: Kysely<Tables>,
  perStatement = issuesPerStatement,
): Promise<number> {
  return unscoped
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      await sql`create temporary table counted_tally (like issue_tally including all) on commit drop`.execute(
        trx,
      );
      let last: { workspaceId: string; id: string } | undefined = { workspaceId: nobody, id: nobody };
      while (last) {
        const { rows } = await sql<{ workspaceId: string; id: string }>`
          with part as materialized (
            select workspace_id, id, team_id, status_id, priority, primary_assignee_user_account_id, project_id, delivery_id,
              label_ids, estimate_value, deleted_utc
            from issue where (workspace_id, id) > (${last.workspaceId}::uuid, ${last.id}::uuid)
            order by workspace_id, id limit ${sql.lit(perStatement)}
          ), added as (
            insert into counted_tally as counted (${sql.raw(columns)})
            select workspace_id, kind, group_id, team_id, status_id, priority, 0, issue_count, estimate_sum
            from (${sql.raw(countedTallies('part'))}) one
            on conflict (${sql.raw(key)}) do update set
              issue_count = counted.issue_count + excluded.issue_count,
              estimate_sum = counted.estimate_sum + excluded.estimate_sum
          )
          select workspace_id as "workspaceId", id from part order by workspace_id desc, part.id desc limit 1`.execute(
          trx,
        );
        last = rows[0];
      }
      const { numAffectedRows } = await sql`
        insert into issue_tally (${sql.raw(columns)})
        select workspace_id, kind, group_id, team_id, status_id, priority, ${sql.lit(countedSlot)}, sum(issue_count), sum(estimate_sum)
        from (
          select workspace_id, kind, group_id, team_id, status_id, priority, issue_count, estimate_sum from counted_tally
          union all
          select workspace_id, kind, group_id, team_id, status_id, priority, -issue_count, -estimate_sum
          from (${sql.raw(storedTallies)}) stored
        ) difference
        group by 1, 2, 3, 4, 5, 6
        having sum(issue_count) <> 0 or sum(estimate_sum) <> 0
        on conflict (${sql.raw(key)}) do update set
          issue_count = issue_tally.issue_count + excluded.issue_count,
          estimate_sum = issue_tally.estimate_sum + excluded.estimate_sum`.execute(trx);
      return Number(numAffectedRows ?? 0);
    });
}
