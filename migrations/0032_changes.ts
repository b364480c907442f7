import { type Kysely, sql } from 'kysely';

/**
 * The log of changes. A write appends to `change_inbox` in its own statement, which takes no lock that another write could
 * wait for. After the commit, the sequencer moves the rows to `change` and numbers them: without gaps in each workspace, and
 * in the order of the writes of each issue.
 *
 * `sort_order` is the place of a change among those of its issue (its revision and the length of its feed together). It is
 * taken under the lock of the issue; an identity alone would not be monotonic where several nodes give it out.
 *
 * No foreign keys: a change outlives what it is about, and a check of the workspace in each write would only cost time.
 *
 * An earlier version that runs beside this one logs nothing.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table change_inbox (
      workspace_id uuid not null,
      id bigint generated always as identity,
      change_id uuid not null,
      sort_order bigint not null default 0,
      event_type text collate "C" not null,
      occurred_utc timestamptz(3) not null,
      actor_user_account_id uuid,
      issue_id uuid,
      team_id uuid,
      subject_id uuid not null,
      fields text[] not null default '{}',
      previous jsonb,
      origin smallint not null,
      request_id text,
      primary key (workspace_id, id)
    ) with (
      autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0
    )`.execute(db);
  await sql`
    create table change (
      workspace_id uuid not null,
      position bigint not null,
      id uuid not null,
      sort_order bigint not null,
      event_type text collate "C" not null,
      occurred_utc timestamptz(3) not null,
      actor_user_account_id uuid,
      issue_id uuid,
      team_id uuid,
      subject_id uuid not null,
      fields text[] not null,
      previous jsonb,
      origin smallint not null,
      request_id text,
      tag bigint not null,
      primary key (workspace_id, position)
    )`.execute(db);
  await sql`
    create index change_by_issue on change (workspace_id, issue_id, position) where issue_id is not null`.execute(
    db,
  );
  // `position` is that of the newest change, `oldest` that of the first which is still kept. `tag` is a random number of the run
  // that gave the position. It tells two histories apart that came to the same position, after a failover or a restore.
  await sql`
    create table change_head (
      workspace_id uuid primary key,
      position bigint not null,
      oldest bigint not null default 1,
      tag bigint not null
    ) with (fillfactor = 30)`.execute(db);
}
