import { type Kysely, sql } from 'kysely';

/**
 * Webhooks, and what is sent to them. The log of changes is the queue: `position` and `tag` say up to which change a webhook has
 * been served, and only a change that is about to be sent gets a row of `webhook_delivery`.
 *
 * `secret` is encrypted. A webhook reads with the account and the scopes of the member who has changed it last. The process that
 * delivers to it holds it by `claim_id` until `claimed_until_utc`.
 *
 * A delivery has no foreign key to its webhook and outlives it: the janitor removes many rows in small steps.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table webhook (
      workspace_id uuid not null references workspace,
      id uuid not null,
      url text not null check (char_length(url) between 1 and 2048),
      description text not null default '',
      event_types text[] not null default '{}',
      team_id uuid,
      has_imports boolean not null default false,
      state smallint not null default 1,
      disabled_reason text,
      secret bytea not null,
      previous_secret bytea,
      previous_until_utc timestamptz(3),
      user_account_id uuid not null,
      scopes text[] not null,
      position bigint not null,
      tag bigint not null,
      failures integer not null default 0,
      first_failure_utc timestamptz(3),
      last_success_utc timestamptz(3),
      next_attempt_utc timestamptz(3),
      claim_id uuid,
      claimed_until_utc timestamptz(3),
      created_utc timestamptz(3) not null default now(),
      updated_utc timestamptz(3) not null default now(),
      deleted_utc timestamptz(3),
      revision integer not null default 1,
      primary key (workspace_id, id),
      foreign key (workspace_id, user_account_id) references member (workspace_id, user_account_id),
      foreign key (workspace_id, team_id) references team (workspace_id, id)
    )`.execute(db);
  await sql`create index webhook_by_created on webhook (workspace_id, created_utc, id)`.execute(db);
  await sql`
    create table webhook_delivery (
      workspace_id uuid not null,
      id uuid not null,
      webhook_id uuid not null,
      position bigint not null,
      change_id uuid,
      issue_id uuid,
      event_type text collate "C" not null,
      state smallint not null default 1,
      body text not null,
      attempts jsonb not null default '[]',
      attempt_count integer not null default 0,
      next_attempt_utc timestamptz(3),
      created_utc timestamptz(3) not null,
      finished_utc timestamptz(3),
      primary key (workspace_id, id)
    )`.execute(db);
  await sql`
    create index webhook_delivery_by_created on webhook_delivery (workspace_id, webhook_id, created_utc, id)`.execute(
    db,
  );
  await sql`
    create index webhook_delivery_waiting on webhook_delivery (workspace_id, webhook_id, position) where state = 1`.execute(
    db,
  );
}
