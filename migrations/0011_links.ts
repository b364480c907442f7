import { type Kysely, sql } from 'kysely';

/** Links of issues. Equivalent URLs share a hash, and the partial unique index lets only one of them live. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table issue_link (
      workspace_id uuid not null,
      id uuid not null,
      issue_id uuid not null,
      url text not null check (char_length(url) <= 2048),
      url_hash bytea not null,
      title text not null check (char_length(title) between 1 and 255),
      created_utc timestamptz(3) not null,
      created_by_user_account_id uuid not null,
      deleted_utc timestamptz(3),
      revision integer not null default 1,
      primary key (workspace_id, id),
      foreign key (workspace_id, issue_id) references issue (workspace_id, id),
      foreign key (workspace_id, created_by_user_account_id) references member (workspace_id, user_account_id)
    )`.execute(db);
  await sql`create unique index issue_link_equivalent on issue_link (workspace_id, issue_id, url_hash) where deleted_utc is null`.execute(
    db,
  );
  await sql`create index issue_link_by_issue on issue_link (workspace_id, issue_id, created_utc, id) where deleted_utc is null`.execute(
    db,
  );
  // For the foreign key when an issue is purged, deleted links with it.
  await sql`create index issue_link_of_issue on issue_link (workspace_id, issue_id)`.execute(db);
}
