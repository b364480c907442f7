import { type Kysely, sql } from 'kysely';

/**
 * Issues and what hangs on them by many-to-many. Counters and dates that an issue shows are on its row and kept in
 * the transaction of the write; fillfactor leaves room so that those updates stay on the page.
 * The key's text (ENG-42) is never stored: it is the team's code and the number.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table issue (
      workspace_id uuid not null,
      id uuid not null,
      team_id uuid not null,
      number integer not null check (number >= 1),
      title text not null check (char_length(title) between 1 and 255),
      title_fold text collate "C" not null,
      description text not null default '',
      reporter_user_account_id uuid not null,
      parent_issue_id uuid,
      -- the parent that was deleted: it reads as none until it is restored
      deleted_parent_issue_id uuid,
      status_id uuid not null,
      status_rank integer not null,
      priority smallint not null check (priority between 0 and 4),
      priority_rank smallint not null generated always as ((priority + 4) % 5) stored,
      primary_assignee_user_account_id uuid,
      project_id uuid,
      delivery_id uuid,
      estimate_value integer check (estimate_value >= 0),
      due_date date,
      comment_count integer not null default 0 check (comment_count >= 0),
      sub_issue_count integer not null default 0 check (sub_issue_count >= 0),
      link_count integer not null default 0 check (link_count >= 0),
      activity_count integer not null default 0 check (activity_count >= 0),
      created_utc timestamptz(3) not null,
      updated_utc timestamptz(3) not null,
      last_activity_utc timestamptz(3),
      last_comment_utc timestamptz(3),
      closed_utc timestamptz(3),
      deleted_utc timestamptz(3),
      revision integer not null default 1,
      primary key (workspace_id, id),
      unique (workspace_id, team_id, number),
      check (parent_issue_id <> id),
      foreign key (workspace_id, team_id) references team (workspace_id, id),
      foreign key (workspace_id, reporter_user_account_id) references member (workspace_id, user_account_id),
      foreign key (workspace_id, primary_assignee_user_account_id) references member (workspace_id, user_account_id),
      foreign key (workspace_id, parent_issue_id) references issue (workspace_id, id),
      foreign key (workspace_id, deleted_parent_issue_id) references issue (workspace_id, id),
      foreign key (workspace_id, team_id, status_id, status_rank)
        references status (workspace_id, team_id, id, rank) on update cascade,
      foreign key (workspace_id, project_id) references project (workspace_id, id),
      foreign key (workspace_id, team_id, delivery_id) references delivery (workspace_id, team_id, id)
    ) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 100)`.execute(
    db,
  );

  const orders: Record<string, string> = {
    by_created: 'created_utc, id',
    by_updated: 'updated_utc, id',
    by_number: 'number, id',
    by_priority: 'priority_rank, id',
    by_due_date: 'due_date, id',
    by_due_date_desc: 'due_date desc nulls last, id desc',
    by_title: 'title_fold, id',
    by_status: 'status_rank, id',
    by_last_activity_desc: 'last_activity_utc desc nulls last, id desc',
    by_team_and_created: 'team_id, created_utc, id',
    by_team_and_updated: 'team_id, updated_utc, id',
    by_team_and_priority: 'team_id, priority_rank, id',
    by_team_and_status: 'team_id, status_rank, id',
    by_status_id: 'status_id, created_utc, id',
    by_reporter: 'reporter_user_account_id, created_utc, id',
  };
  for (const [name, columns] of Object.entries(orders)) {
    await sql
      .raw(`create index issue_${name} on issue (workspace_id, ${columns}) where deleted_utc is null`)
      .execute(db);
  }
  const optional: Record<string, string> = {
    project: 'project_id',
    delivery: 'delivery_id',
    primary_assignee: 'primary_assignee_user_account_id',
    parent: 'parent_issue_id',
  };
  for (const [name, column] of Object.entries(optional)) {
    await sql
      .raw(
        `create index issue_by_${name} on issue (workspace_id, ${column}, created_utc, id)
         where deleted_utc is null and ${column} is not null`,
      )
      .execute(db);
  }
  await sql`
    create index issue_by_deleted_parent on issue (workspace_id, deleted_parent_issue_id)
    where deleted_parent_issue_id is not null`.execute(db);
  await sql`create index issue_deleted on issue (deleted_utc) where deleted_utc is not null`.execute(db);
  await sql`create index issue_title_trigram on issue using gin (title_fold gin_trgm_ops) where deleted_utc is null`.execute(
    db,
  );

  await sql`
    create table issue_assignee (
      workspace_id uuid not null,
      issue_id uuid not null,
      user_account_id uuid not null,
      position integer not null default 0,
      primary key (workspace_id, issue_id, user_account_id),
      foreign key (workspace_id, issue_id) references issue (workspace_id, id),
      foreign key (workspace_id, user_account_id) references member (workspace_id, user_account_id)
    )`.execute(db);
  await sql`create index issue_assignee_by_member on issue_assignee (workspace_id, user_account_id, issue_id)`.execute(
    db,
  );
  await sql`
    create table issue_label (
      workspace_id uuid not null,
      issue_id uuid not null,
      label_id uuid not null,
      primary key (workspace_id, issue_id, label_id),
      foreign key (workspace_id, issue_id) references issue (workspace_id, id),
      foreign key (workspace_id, label_id) references label (workspace_id, id)
    ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 100)`.execute(db);
  await sql`create index issue_label_by_label on issue_label (workspace_id, label_id, issue_id)`.execute(db);
  await sql`
    create table issue_subscription (
      workspace_id uuid not null,
      issue_id uuid not null,
      user_account_id uuid not null,
      primary key (workspace_id, issue_id, user_account_id),
      foreign key (workspace_id, issue_id) references issue (workspace_id, id),
      foreign key (workspace_id, user_account_id) references member (workspace_id, user_account_id)
    )`.execute(db);
  await sql`create index issue_subscription_by_member on issue_subscription (workspace_id, user_account_id, issue_id)`.execute(
    db,
  );
  await sql`
    create table issue_role_assignment (
      workspace_id uuid not null,
      issue_id uuid not null,
      role text collate "C" not null check (char_length(role) between 1 and 50),
      user_account_id uuid not null,
      primary key (workspace_id, issue_id, role, user_account_id),
      foreign key (workspace_id, issue_id) references issue (workspace_id, id),
      foreign key (workspace_id, user_account_id) references member (workspace_id, user_account_id)
    )`.execute(db);
  await sql`create index issue_role_assignment_by_member on issue_role_assignment (workspace_id, user_account_id)`.execute(
    db,
  );
}
