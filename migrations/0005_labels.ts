import { type Kysely, sql } from 'kysely';

/** Labels of a team or, without one, of the whole workspace. A group gathers labels and is itself never put on a thing. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table label (
      workspace_id uuid not null references workspace,
      id uuid not null,
      team_id uuid,
      group_id uuid,
      is_group boolean not null default false,
      name text not null check (char_length(name) between 1 and 255),
      name_fold text collate "C" not null,
      description text not null default '',
      color text not null default '',
      created_utc timestamptz(3) not null default now(),
      updated_utc timestamptz(3) not null default now(),
      primary key (workspace_id, id),
      check (not (is_group and group_id is not null)),
      foreign key (workspace_id, team_id) references team (workspace_id, id),
      foreign key (workspace_id, group_id) references label (workspace_id, id)
    )`.execute(db);
  await sql`create unique index label_name_in_team on label (workspace_id, team_id, name_fold) where team_id is not null`.execute(
    db,
  );
  await sql`create unique index label_name_in_workspace on label (workspace_id, name_fold) where team_id is null`.execute(
    db,
  );
  await sql`create index label_by_name on label (workspace_id, name_fold, id)`.execute(db);
  await sql`create index label_by_group on label (workspace_id, group_id) where group_id is not null`.execute(
    db,
  );
  await sql`create index label_name_trigram on label using gin (name_fold gin_trgm_ops)`.execute(db);
}
