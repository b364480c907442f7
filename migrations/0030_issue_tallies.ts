import { type Kysely, sql } from 'kysely';

/**
 * How many living issues there are in each status, with the sum of their estimates: by team and priority (kind 1), primary
 * assignee (2), label (3; the nil UUID stands for no label), project (4) and delivery (5). Totals and groupings add them up.
 *
 * A write adds to a row of a slot that no other write uses at the same time; slot 0 has what counting all issues has found,
 * as here. Nothing is locked: the statement counts what is there, less what writes have added, at one moment. An earlier
 * version that runs beside this one adds nothing, and the janitor corrects what it left out.
 */
export async function up(db: Kysely<unknown>): Promise<string | undefined> {
  // What a row counts are copies of what issues refer to, which have foreign keys.
  await sql`
    create table issue_tally (
      workspace_id uuid not null,
      kind smallint not null check (kind between 1 and 5),
      group_id uuid not null,
      team_id uuid not null,
      status_id uuid not null,
      priority smallint not null,
      slot smallint not null,
      issue_count integer not null default 0,
      estimate_sum bigint not null default 0,
      primary key (workspace_id, kind, group_id, status_id, priority, slot)
    ) with (fillfactor = 30, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 100)`.execute(
    db,
  );
  const { numAffectedRows = 0n } = await sql`
    insert into issue_tally (workspace_id, kind, group_id, team_id, status_id, priority, slot, issue_count, estimate_sum)
    select i.workspace_id, one.kind, one.group_id, i.team_id, i.status_id, one.priority, 0,
      count(*), coalesce(sum(i.estimate_value), 0)
    from issue i cross join lateral (
      values (1, i.team_id, i.priority), (2, i.primary_assignee_user_account_id, 0), (4, i.project_id, 0), (5, i.delivery_id, 0)
      union all
      select 3, label_id, 0 from unnest(coalesce(
        nullif(coalesce(i.label_ids, array(
          select l.label_id from issue_label l where l.workspace_id = i.workspace_id and l.issue_id = i.id)), '{}'),
        array['00000000-0000-0000-0000-000000000000'::uuid])) label_id
    ) one(kind, group_id, priority)
    where i.deleted_utc is null and one.group_id is not null
    group by 1, 2, 3, 4, 5, 6`.execute(db);
  return numAffectedRows > 0n ? `counted the issues into ${numAffectedRows} tallies` : undefined;
}
