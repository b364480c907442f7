import { type Kysely, sql } from 'kysely';

/** The feed of an issue. `sort_order` is gapless within the issue: it is the issue's own counter, taken under its lock. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table activity (
      workspace_id uuid not null,
      issue_id uuid not null,
      sort_order integer not null check (sort_order >= 1),
      id uuid not null,
      event_type text collate "C" not null check (event_type ~ '^[a-z]+(-[a-z]+)*[.][a-z]+[.]v[0-9]+$'),
      actor_user_account_id uuid not null,
      occurred_utc timestamptz(3) not null,
      icon_css text not null default '',
      text text not null,
      primary key (workspace_id, issue_id, sort_order),
      unique (workspace_id, id),
      foreign key (workspace_id, issue_id) references issue (workspace_id, id),
      foreign key (workspace_id, actor_user_account_id) references member (workspace_id, user_account_id)
    )`.execute(db);
}
