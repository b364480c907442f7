import { type Kysely, sql } from 'kysely';

/**
 * Deliveries of a team. Their counters never sit on one row (sixteen writers on it fell to a sixth of the speed):
 * each backend adds to a slot of its own and a read sums the slots.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table delivery (
      workspace_id uuid not null,
      id uuid not null,
      team_id uuid not null,
      number integer not null check (number >= 1),
      name text not null check (char_length(name) between 1 and 255),
      name_fold text collate "C" not null,
      description text not null default '',
      starts_on date not null,
      ends_on date not null,
      state smallint not null check (state between 1 and 3),
      created_utc timestamptz(3) not null default now(),
      updated_utc timestamptz(3) not null default now(),
      primary key (workspace_id, id),
      unique (workspace_id, team_id, id),
      unique (workspace_id, team_id, number),
      check (ends_on >= starts_on),
      foreign key (workspace_id, team_id) references team (workspace_id, id)
    )`.execute(db);
  await sql`create index delivery_by_starts_on on delivery (workspace_id, starts_on, id)`.execute(db);
  await sql`create index delivery_by_team_and_starts_on on delivery (workspace_id, team_id, starts_on, id)`.execute(
    db,
  );
  await sql`create index delivery_by_name on delivery (workspace_id, name_fold, id)`.execute(db);
  await sql`
    create table delivery_count (
      workspace_id uuid not null,
      delivery_id uuid not null,
      slot smallint not null,
      issue_count integer not null default 0,
      closed_issue_count integer not null default 0,
      estimated_scope bigint not null default 0,
      closed_estimate bigint not null default 0,
      primary key (workspace_id, delivery_id, slot)
    ) with (fillfactor = 30)`.execute(db);
}
