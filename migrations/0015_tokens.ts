import { type Kysely, sql } from 'kysely';

/** Bearer tokens, known by the hash of their text alone. `parent_token_id` is the token that made this one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table access_token (
      workspace_id uuid not null,
      id uuid not null,
      user_account_id uuid not null,
      parent_token_id uuid,
      name text not null check (char_length(name) between 1 and 255),
      token_hash bytea not null unique,
      scopes text[] not null,
      created_utc timestamptz(3) not null default now(),
      expires_utc timestamptz(3),
      last_used_utc timestamptz(3),
      revoked_utc timestamptz(3),
      primary key (workspace_id, id),
      foreign key (workspace_id, user_account_id) references member (workspace_id, user_account_id),
      foreign key (workspace_id, parent_token_id) references access_token (workspace_id, id)
    )`.execute(db);
  await sql`create index access_token_by_created on access_token (workspace_id, created_utc, id)`.execute(db);
  await sql`create index access_token_by_member on access_token (workspace_id, user_account_id, created_utc, id)`.execute(
    db,
  );
  await sql`create index access_token_by_parent on access_token (workspace_id, parent_token_id) where parent_token_id is not null`.execute(
    db,
  );
}
