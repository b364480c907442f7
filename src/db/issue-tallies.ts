import { type Kysely, sql } from 'kysely';
import { countedSlot, noLabel, tallyKinds } from './tables/tallies.ts';
import type { Tables } from './tables/tables.ts';

/**
 * SQL that counts the issues of a table or a part, which is what the tallies should add up to. The groups of an issue
 * are the elements of one array. Each of the first four has a kind, and the first has a priority; the others are
 * labels.
 */
export function countedTallies(issues: string): string {
  const { team, primaryAssignee, project, delivery, label } = tallyKinds;
  return `
  select i.workspace_id, coalesce(one.kind, ${label}) as kind, one.group_id, i.team_id, i.status_id,
    coalesce(one.priority, 0) as priority,
    count(*) as issue_count, coalesce(sum(i.estimate_value), 0)::bigint as estimate_sum
  from ${issues} i cross join lateral unnest(
    array[${team}, ${primaryAssignee}, ${project}, ${delivery}],
    array[i.team_id, i.primary_assignee_user_account_id, i.project_id, i.delivery_id] || coalesce(
      nullif(coalesce(i.label_ids, array(
        select l.label_id from issue_label l where l.workspace_id = i.workspace_id and l.issue_id = i.id)), '{}'),
      array['${noLabel}'::uuid]),
    array[i.priority]
  ) one(kind, group_id, priority)
  where i.deleted_utc is null and one.group_id is not null
  group by 1, 2, 3, 4, 5, 6`;
}

/** SQL that adds up tallies, those of all workspaces unless there is a condition. */
export function storedTallies(condition = 'true'): string {
  return `
  select workspace_id, kind, group_id, team_id, status_id, priority,
    sum(issue_count) as issue_count, sum(estimate_sum)::bigint as estimate_sum
  from issue_tally where ${condition} group by 1, 2, 3, 4, 5, 6`;
}

const nilUuid = '00000000-0000-0000-0000-000000000000';
const columns = 'workspace_id, kind, group_id, team_id, status_id, priority, slot, issue_count, estimate_sum';
const key = 'workspace_id, kind, group_id, status_id, priority, slot';

/**
 * The number of issues that one statement counts. It keeps each statement far below the statement timeout of a server.
 */
const issuesPerStatement = 50_000;

/**
 * Counts all issues of a workspace, and corrects the tallies by the difference. The transaction sees issues and tallies
 * at one moment. Writes may continue, because they add to the rows of other slots. Of two such transactions at once,
 * one fails, so that no difference is added twice. Returns the number of tallies that were wrong.
 */
export async function recountTallies(
  unscoped: Kysely<Tables>,
  workspaceId: string,
  perStatement = issuesPerStatement,
): Promise<number> {
  const isOfWorkspace = sql`workspace_id = ${sql.lit(workspaceId)}`;
  return unscoped
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      await sql`create temporary table counted_tally (like issue_tally including all) on commit drop`.execute(
        trx,
      );
      let last: string | undefined = nilUuid;
      while (last) {
        // `issue_label` is restricted to the workspace, because a distributed database would otherwise evaluate the CTE
        // `part` on each node.
        const { rows } = await sql<{ id: string }>`
          with part as materialized (
            select workspace_id, id, team_id, status_id, priority, primary_assignee_user_account_id, project_id, delivery_id,
              label_ids, estimate_value, deleted_utc
            from issue where ${isOfWorkspace} and id > ${last}::uuid order by id limit ${sql.lit(perStatement)}
          ), issue_label as not materialized (select * from issue_label where ${isOfWorkspace}), added as (
            insert into counted_tally as counted (${sql.raw(columns)})
            select workspace_id, kind, group_id, team_id, status_id, priority, 0, issue_count, estimate_sum
            from (${sql.raw(countedTallies('part'))}) one
            on conflict (${sql.raw(key)}) do update set
              issue_count = counted.issue_count + excluded.issue_count,
              estimate_sum = counted.estimate_sum + excluded.estimate_sum
          )
          select id from part order by id desc limit 1`.execute(trx);
        last = rows[0]?.id;
      }
      const { numAffectedRows } = await sql`
        insert into issue_tally (${sql.raw(columns)})
        select workspace_id, kind, group_id, team_id, status_id, priority, ${sql.lit(countedSlot)}, sum(issue_count), sum(estimate_sum)
        from (
          select workspace_id, kind, group_id, team_id, status_id, priority, issue_count, estimate_sum from counted_tally
          union all
          select workspace_id, kind, group_id, team_id, status_id, priority, -issue_count, -estimate_sum
          from (${sql.raw(storedTallies(`workspace_id = '${workspaceId}'`))}) stored
        ) difference
        group by 1, 2, 3, 4, 5, 6
        having sum(issue_count) <> 0 or sum(estimate_sum) <> 0
        on conflict (${sql.raw(key)}) do update set
          issue_count = issue_tally.issue_count + excluded.issue_count,
          estimate_sum = issue_tally.estimate_sum + excluded.estimate_sum`.execute(trx);
      return Number(numAffectedRows ?? 0);
    });
}
