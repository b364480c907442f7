import { type Kysely, sql } from 'kysely';

/**
 * The stages of issues: from when to when an issue was in which status, delivery and project, with which estimate, and
 * whether it was deleted. Trends are counted from them.
 *
 * Of older issues, the stages say only what is known: when they were created, closed and deleted. A status is null while
 * it is unknown, and `history_since_utc` is when the history of a workspace begins to be complete (null: it always was).
 * The present stage of every issue has the number in `issue.stage_count`, 1 for older issues, so that no row of `issue`
 * is written here; the stages before it have the numbers 0 and -1.
 *
 * An earlier version that runs beside this one writes no stages. What it changes is in the history from the next change
 * of the same issue on.
 */
export async function up(db: Kysely<unknown>): Promise<string | undefined> {
  await sql`set local lock_timeout = '10s'`.execute(db);
  await sql`alter table workspace add column history_since_utc timestamptz(3)`.execute(db);
  await sql`
    alter table issue
      add column started_utc timestamptz(3),
      add column stage_count integer not null default 1`.execute(db);
  // What a stage refers to is a copy of what its issue refers to, which has foreign keys.
  await sql`
    create table issue_stage (
      workspace_id uuid not null,
      issue_id uuid not null,
      sort_order integer not null,
      since_utc timestamptz(3) not null,
      until_utc timestamptz(3),
      team_id uuid not null,
      status_id uuid,
      delivery_id uuid,
      project_id uuid,
      estimate_value integer,
      deleted boolean not null default false,
      primary key (workspace_id, issue_id, sort_order),
      foreign key (workspace_id, issue_id) references issue (workspace_id, id)
    ) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 100)`.execute(
    db,
  );
  const { rows } = await sql<{ stages: number }>`
    with older as (
      select i.workspace_id, i.id, i.team_id, i.status_id, i.delivery_id, i.project_id, i.estimate_value,
        i.created_utc, i.deleted_utc,
        case when s.category in (4, 5) then coalesce(i.closed_utc, now()) when s.category = 3 then now() end as status_utc
      from issue i join status s on s.workspace_id = i.workspace_id and s.id = i.status_id
    ), stages as (
      select *, created_utc as since_utc, false as deleted,
        case when status_utc is null then status_id end as known_status_id from older
      union all
      select *, status_utc, false, status_id from older
        where status_utc is not null and (deleted_utc is null or status_utc < deleted_utc)
      union all
      select *, deleted_utc, true, status_id from older where deleted_utc is not null
    ), added as (
      insert into issue_stage (workspace_id, issue_id, sort_order, since_utc, until_utc, team_id, status_id,
        delivery_id, project_id, estimate_value, deleted)
      select workspace_id, id, 2 - row_number() over later, since_utc, lag(since_utc) over later, team_id,
        known_status_id, delivery_id, project_id, estimate_value, deleted
      from stages window later as (partition by workspace_id, id order by deleted desc, since_utc desc, known_status_id)
      returning 1
    ), incomplete as (
      update workspace w set history_since_utc = now()
      where exists (select from issue i where i.workspace_id = w.id)
      returning 1
    )
    select (select count(*) from added)::int as stages from (select count(*) from incomplete) updated`.execute(
    db,
  );
  await sql`
    create index issue_stage_by_since on issue_stage (workspace_id, since_utc)
    include (status_id, deleted)`.execute(db);
  await sql`
    create index issue_stage_by_until on issue_stage (workspace_id, until_utc)
    include (status_id, deleted) where until_utc is not null`.execute(db);
  for (const grouping of ['delivery', 'project']) {
    await sql`
      create index ${sql.ref(`issue_stage_by_${grouping}`)} on issue_stage (workspace_id, ${sql.ref(`${grouping}_id`)})
      include (since_utc, until_utc, status_id, estimate_value, deleted)
      where ${sql.ref(`${grouping}_id`)} is not null`.execute(db);
  }
  const stages = rows[0]?.stages ?? 0;
  return stages > 0 ? `wrote what is known of the stages of older issues: ${stages} rows` : undefined;
}
