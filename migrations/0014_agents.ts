import { type Kysely, sql } from 'kysely';

/** The agent that is installed in a workspace, and its one conversation on each issue. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table agent_installation (
      workspace_id uuid not null,
      id uuid not null,
      application_id uuid not null,
      agent_user_account_id uuid not null,
      is_default boolean not null default false,
      created_utc timestamptz(3) not null default now(),
      primary key (workspace_id, id),
      unique (workspace_id, agent_user_account_id),
      foreign key (workspace_id, agent_user_account_id) references member (workspace_id, user_account_id)
    )`.execute(db);
  await sql`create unique index agent_installation_one_default on agent_installation (workspace_id) where is_default`.execute(
    db,
  );
  await sql`
    create table agent_thread (
      workspace_id uuid not null,
      id uuid not null,
      issue_id uuid not null,
      application_id uuid,
      application_installation_id uuid,
      agent_user_account_id uuid not null,
      status smallint not null check (status between 0 and 4),
      last_message_author_type smallint not null check (last_message_author_type between 1 and 3),
      last_message_type smallint not null check (last_message_type between 1 and 6),
      current_turn_number integer not null check (current_turn_number >= 0),
      last_completed_turn_number integer not null default 0 check (last_completed_turn_number >= 0),
      message_count integer not null default 0 check (message_count >= 0),
      last_message_preview text not null default '',
      last_message_utc timestamptz(3) not null,
      started_utc timestamptz(3) not null,
      revision integer not null default 1,
      primary key (workspace_id, id),
      unique (workspace_id, issue_id),
      foreign key (workspace_id, issue_id) references issue (workspace_id, id),
      foreign key (workspace_id, application_installation_id) references agent_installation (workspace_id, id),
      foreign key (workspace_id, agent_user_account_id) references member (workspace_id, user_account_id)
    ) with (fillfactor = 90)`.execute(db);
  await sql`
    create table agent_thread_message (
      workspace_id uuid not null,
      id uuid not null,
      thread_id uuid not null,
      issue_id uuid not null,
      sort_order integer not null check (sort_order >= 1),
      application_id uuid,
      application_installation_id uuid,
      agent_user_account_id uuid not null,
      author_user_account_id uuid not null,
      author_type smallint not null check (author_type between 1 and 3),
      message_type smallint not null check (message_type between 1 and 6),
      turn_number integer not null check (turn_number >= 0),
      body text not null check (char_length(body) between 1 and 50000),
      reply_to_message_id uuid,
      follow_up_actions jsonb not null default '[]',
      created_utc timestamptz(3) not null,
      primary key (workspace_id, id),
      unique (workspace_id, thread_id, id),
      unique (workspace_id, thread_id, sort_order),
      foreign key (workspace_id, thread_id) references agent_thread (workspace_id, id),
      foreign key (workspace_id, issue_id) references issue (workspace_id, id),
      foreign key (workspace_id, thread_id, reply_to_message_id) references agent_thread_message (workspace_id, thread_id, id),
      foreign key (workspace_id, author_user_account_id) references member (workspace_id, user_account_id)
    )`.execute(db);
  // For the foreign key when an issue is purged.
  await sql`create index agent_thread_message_of_issue on agent_thread_message (workspace_id, issue_id)`.execute(
    db,
  );
}
