import { type Kysely, sql } from 'kysely';

/** What a team works on in source control: the context that an agent is given. A team has at most one default. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table repository (
      workspace_id uuid not null,
      id uuid not null,
      team_id uuid not null,
      workspace_scm_connection_id text not null default '',
      provider smallint not null check (provider between 1 and 2),
      external_project_id text not null default '',
      external_project_name text not null default '',
      external_project_name_fold text collate "C" not null default '',
      external_repository_id text not null default '',
      external_repository_name text not null,
      external_repository_name_fold text collate "C" not null,
      external_repository_full_name text not null default '',
      external_repository_url text not null default '',
      default_branch text not null default '',
      default_branch_fold text collate "C" not null default '',
      is_default_for_agents boolean not null default false,
      created_utc timestamptz(3) not null default now(),
      updated_utc timestamptz(3) not null default now(),
      primary key (workspace_id, id),
      foreign key (workspace_id, team_id) references team (workspace_id, id)
    )`.execute(db);
  await sql`create unique index repository_one_default on repository (workspace_id, team_id) where is_default_for_agents`.execute(
    db,
  );
  await sql`create index repository_by_name on repository (workspace_id, team_id, external_repository_name_fold, id)`.execute(
    db,
  );
  await sql`create index repository_by_provider on repository (workspace_id, team_id, provider, id)`.execute(
    db,
  );
  await sql`create index repository_by_project_name on repository (workspace_id, team_id, external_project_name_fold, id)`.execute(
    db,
  );
  await sql`create index repository_by_default_branch on repository (workspace_id, team_id, default_branch_fold, id)`.execute(
    db,
  );
}
