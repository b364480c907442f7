import { type Kysely, sql } from 'kysely';

/**
 * Comments on issues. `parent_author_user_account_id` never changes, so a reply carries it and can name whom it
 * answers after the parent is deleted.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table comment (
      workspace_id uuid not null,
      id uuid not null,
      issue_id uuid not null,
      parent_comment_id uuid,
      parent_author_user_account_id uuid,
      author_user_account_id uuid not null,
      body text not null check (char_length(body) between 1 and 50000),
      is_edited boolean not null default false,
      created_utc timestamptz(3) not null,
      updated_utc timestamptz(3) not null,
      deleted_utc timestamptz(3),
      revision integer not null default 1,
      primary key (workspace_id, id),
      unique (workspace_id, issue_id, id),
      foreign key (workspace_id, issue_id) references issue (workspace_id, id),
      foreign key (workspace_id, issue_id, parent_comment_id) references comment (workspace_id, issue_id, id),
      foreign key (workspace_id, author_user_account_id) references member (workspace_id, user_account_id),
      foreign key (workspace_id, parent_author_user_account_id) references member (workspace_id, user_account_id)
    )`.execute(db);
  await sql`create index comment_by_issue on comment (workspace_id, issue_id, created_utc, id) where deleted_utc is null`.execute(
    db,
  );
  await sql`
    create index comment_by_parent on comment (workspace_id, parent_comment_id, created_utc, id)
    where deleted_utc is null and parent_comment_id is not null`.execute(db);
  await sql`create index comment_by_author on comment (workspace_id, author_user_account_id, created_utc, id)`.execute(
    db,
  );
}
