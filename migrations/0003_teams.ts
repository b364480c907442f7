import { type Kysely, sql } from 'kysely';

/**
 * Teams, who is in them, and the counter that numbers their issues. The counter is a table of its own, so that
 * creating an issue neither locks nor changes the team's row.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table team (
      workspace_id uuid not null references workspace,
      id uuid not null,
      name text not null check (char_length(name) between 1 and 255),
      name_fold text collate "C" not null,
      code text collate "C" not null check (code ~ '^[A-Z][A-Z0-9]{0,9}$'),
      slug text collate "C" not null check (slug ~ '^[a-z0-9][a-z0-9-]{0,99}$'),
      description text not null default '',
      icon_css text not null default '',
      color text not null default '',
      state smallint not null check (state between 1 and 3),
      lead_user_account_id uuid,
      member_count integer not null default 0 check (member_count >= 0),
      active_project_count integer not null default 0 check (active_project_count >= 0),
      deliveries_enabled boolean not null default false,
      created_utc timestamptz(3) not null default now(),
      updated_utc timestamptz(3) not null default now(),
      primary key (workspace_id, id),
      unique (workspace_id, code),
      foreign key (workspace_id, lead_user_account_id) references member (workspace_id, user_account_id)
    )`.execute(db);
  await sql`create index team_by_name on team (workspace_id, name_fold, id)`.execute(db);
  await sql`create index team_by_member_count on team (workspace_id, member_count, id)`.execute(db);
  await sql`create index team_by_active_project_count on team (workspace_id, active_project_count, id)`.execute(
    db,
  );
  await sql`create index team_by_state on team (workspace_id, state, id)`.execute(db);
  await sql`create index team_by_lead on team (workspace_id, lead_user_account_id)`.execute(db);
  await sql`create index team_name_trigram on team using gin (name_fold gin_trgm_ops)`.execute(db);
  await sql`
    create table team_counter (
      workspace_id uuid not null,
      team_id uuid not null,
      next_issue_number integer not null default 1 check (next_issue_number >= 1),
      primary key (workspace_id, team_id),
      foreign key (workspace_id, team_id) references team (workspace_id, id)
    ) with (fillfactor = 50)`.execute(db);
  await sql`
    create table team_member (
      workspace_id uuid not null,
      team_id uuid not null,
      user_account_id uuid not null,
      primary key (workspace_id, team_id, user_account_id),
      foreign key (workspace_id, team_id) references team (workspace_id, id),
      foreign key (workspace_id, user_account_id) references member (workspace_id, user_account_id)
    )`.execute(db);
  await sql`create index team_member_by_member on team_member (workspace_id, user_account_id, team_id)`.execute(
    db,
  );
}
