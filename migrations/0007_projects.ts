import { type Kysely, sql } from 'kysely';

/**
 * Projects, their statuses, members, labels and links. What a project is ordered by (the place of its status, the
 * name of its lead) is copied to its row by foreign keys that cascade, so that every order is a column and an index.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table project_status (
      workspace_id uuid not null references workspace,
      id uuid not null,
      name text not null check (char_length(name) between 1 and 255),
      name_fold text collate "C" not null,
      description text not null default '',
      color text not null default '',
      state smallint not null check (state between 1 and 5),
      position integer not null check (position between 0 and 9999),
      created_utc timestamptz(3) not null default now(),
      updated_utc timestamptz(3) not null default now(),
      primary key (workspace_id, id),
      unique (workspace_id, name_fold),
      unique (workspace_id, id, state, position)
    )`.execute(db);
  await sql`
    create table project (
      workspace_id uuid not null,
      id uuid not null,
      team_id uuid not null,
      key text collate "C" not null check (key ~ '^[A-Z][A-Z0-9-]{0,49}$'),
      name text not null check (char_length(name) between 1 and 255),
      name_fold text collate "C" not null,
      summary text not null default '',
      description text not null default '',
      slug text collate "C" not null check (slug ~ '^[a-z0-9][a-z0-9-]{0,99}$'),
      icon_css text not null default '',
      color text not null default '',
      status_id uuid not null,
      state smallint not null,
      status_position integer not null,
      priority smallint not null default 0 check (priority between 0 and 4),
      priority_rank smallint not null generated always as ((priority + 4) % 5) stored,
      lead_user_account_id uuid,
      lead_display_name_fold text collate "C",
      start_utc timestamptz(3),
      target_utc timestamptz(3),
      link_count integer not null default 0 check (link_count >= 0),
      created_utc timestamptz(3) not null default now(),
      updated_utc timestamptz(3) not null default now(),
      primary key (workspace_id, id),
      unique (workspace_id, key),
      check ((lead_user_account_id is null) = (lead_display_name_fold is null)),
      foreign key (workspace_id, team_id) references team (workspace_id, id),
      foreign key (workspace_id, status_id, state, status_position)
        references project_status (workspace_id, id, state, position) on update cascade,
      foreign key (workspace_id, lead_user_account_id, lead_display_name_fold)
        references member (workspace_id, user_account_id, display_name_fold) on update cascade
    )`.execute(db);
  await sql`create index project_by_name on project (workspace_id, name_fold, id)`.execute(db);
  await sql`create index project_by_priority on project (workspace_id, priority_rank, id)`.execute(db);
  await sql`create index project_by_status on project (workspace_id, status_position, id)`.execute(db);
  await sql`create index project_by_lead on project (workspace_id, lead_display_name_fold, id)`.execute(db);
  await sql`create index project_by_lead_desc on project (workspace_id, lead_display_name_fold desc nulls last, id desc)`.execute(
    db,
  );
  await sql`create index project_by_target on project (workspace_id, target_utc, id)`.execute(db);
  await sql`create index project_by_target_desc on project (workspace_id, target_utc desc nulls last, id desc)`.execute(
    db,
  );
  await sql`create index project_by_team on project (workspace_id, team_id, name_fold, id)`.execute(db);
  await sql`create index project_by_lead_account on project (workspace_id, lead_user_account_id, name_fold, id)`.execute(
    db,
  );
  await sql`create index project_by_status_id on project (workspace_id, status_id)`.execute(db);
  await sql`create index project_name_trigram on project using gin (name_fold gin_trgm_ops)`.execute(db);
  await sql`
    create table project_count (
      workspace_id uuid not null,
      project_id uuid not null,
      slot smallint not null,
      issue_count integer not null default 0,
      completed_issue_count integer not null default 0,
      primary key (workspace_id, project_id, slot)
    ) with (fillfactor = 30)`.execute(db);
  await sql`
    create table project_member (
      workspace_id uuid not null,
      project_id uuid not null,
      user_account_id uuid not null,
      primary key (workspace_id, project_id, user_account_id),
      foreign key (workspace_id, project_id) references project (workspace_id, id),
      foreign key (workspace_id, user_account_id) references member (workspace_id, user_account_id)
    )`.execute(db);
  await sql`create index project_member_by_member on project_member (workspace_id, user_account_id, project_id)`.execute(
    db,
  );
  await sql`
    create table project_label (
      workspace_id uuid not null,
      project_id uuid not null,
      label_id uuid not null,
      primary key (workspace_id, project_id, label_id),
      foreign key (workspace_id, project_id) references project (workspace_id, id),
      foreign key (workspace_id, label_id) references label (workspace_id, id)
    )`.execute(db);
  await sql`create index project_label_by_label on project_label (workspace_id, label_id, project_id)`.execute(
    db,
  );
  await sql`
    create table project_link (
      workspace_id uuid not null,
      id uuid not null,
      project_id uuid not null,
      url text not null check (char_length(url) <= 2048),
      title text not null check (char_length(title) between 1 and 255),
      created_utc timestamptz(3) not null default now(),
      created_by_user_account_id uuid not null,
      primary key (workspace_id, id),
      foreign key (workspace_id, project_id) references project (workspace_id, id),
      foreign key (workspace_id, created_by_user_account_id) references member (workspace_id, user_account_id)
    )`.execute(db);
  await sql`create index project_link_by_project on project_link (workspace_id, project_id, created_utc, id)`.execute(
    db,
  );
}
