import { type Kysely, sql } from 'kysely';

/** Files on issues. A row without `uploaded_utc` awaits its bytes and is shown to nobody. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table attachment (
      workspace_id uuid not null,
      id uuid not null,
      issue_id uuid not null,
      file_name text not null check (char_length(file_name) between 1 and 255),
      content_type text collate "C" not null,
      size_bytes integer not null check (size_bytes >= 0),
      uploaded_by_user_account_id uuid not null,
      created_utc timestamptz(3) not null,
      uploaded_utc timestamptz(3),
      preview_kind smallint not null default 0 check (preview_kind between 0 and 4),
      code_language text,
      deleted_utc timestamptz(3),
      revision integer not null default 1,
      primary key (workspace_id, id),
      check (content_type = lower(content_type)),
      foreign key (workspace_id, issue_id) references issue (workspace_id, id),
      foreign key (workspace_id, uploaded_by_user_account_id) references member (workspace_id, user_account_id)
    )`.execute(db);
  await sql`
    create index attachment_by_issue on attachment (workspace_id, issue_id, uploaded_utc, id)
    where deleted_utc is null and uploaded_utc is not null`.execute(db);
  await sql`create index attachment_pending on attachment (created_utc) where uploaded_utc is null`.execute(
    db,
  );
  // For the foreign key when an issue is purged, deleted files with it.
  await sql`create index attachment_of_issue on attachment (workspace_id, issue_id)`.execute(db);
}
