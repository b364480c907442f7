import { type Kysely, sql } from 'kysely';

/**
 * What was answered under an Idempotency-Key, to be answered again for a day. The result is text: `jsonb` would put
 * its fields into another order.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table idempotency_key (
      workspace_id uuid not null,
      user_account_id uuid not null,
      key text collate "C" not null check (char_length(key) between 1 and 255),
      request_hash bytea not null,
      result text not null,
      created_utc timestamptz(3) not null,
      primary key (workspace_id, user_account_id, key),
      foreign key (workspace_id, user_account_id) references member (workspace_id, user_account_id)
    )`.execute(db);
  await sql`create index idempotency_key_by_created on idempotency_key (created_utc)`.execute(db);
}
