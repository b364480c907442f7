import { type Kysely, sql } from 'kysely';

/**
 * The configurable statuses of a team's issues. `rank` is category and position in one number: it is what issues
 * are ordered by, copied to the issue by a foreign key that cascades when a status moves.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table status (
      workspace_id uuid not null,
      id uuid not null,
      team_id uuid not null,
      name text not null check (char_length(name) between 1 and 255),
      name_fold text collate "C" not null,
      description text not null default '',
      color text not null default '',
      category smallint not null check (category between 1 and 5),
      position integer not null check (position between 0 and 9999),
      rank integer not null generated always as (category * 10000 + position) stored,
      is_initial boolean not null default false,
      is_terminal boolean not null default false,
      created_utc timestamptz(3) not null default now(),
      updated_utc timestamptz(3) not null default now(),
      primary key (workspace_id, id),
      unique (workspace_id, team_id, id),
      unique (workspace_id, team_id, id, rank),
      unique (workspace_id, team_id, name_fold),
      check (is_terminal = (category in (4, 5))),
      foreign key (workspace_id, team_id) references team (workspace_id, id)
    )`.execute(db);
  await sql`create unique index status_one_initial on status (workspace_id, team_id) where is_initial`.execute(
    db,
  );
  await sql`create index status_by_position on status (workspace_id, team_id, position, id)`.execute(db);
}
