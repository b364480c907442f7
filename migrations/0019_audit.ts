import { type Kysely, sql } from 'kysely';

/**
 * What was done to tokens, roles and the workspace itself: who, when, from where. An entry names all that it is about
 * in words of its own, so that it can be read when the rest is gone, and nobody changes or removes one.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table audit_entry (
      workspace_id uuid not null references workspace,
      id uuid not null,
      occurred_utc timestamptz(3) not null,
      act text collate "C" not null check (char_length(act) between 1 and 100),
      actor_kind smallint not null check (actor_kind between 1 and 3),
      actor_name text not null,
      user_account_id uuid,
      token_id uuid,
      address text collate "C",
      request_id text collate "C",
      subject_kind text collate "C" not null check (char_length(subject_kind) between 1 and 100),
      subject_id text collate "C",
      subject_name text not null,
      changes jsonb not null default '[]',
      primary key (workspace_id, id),
      check (actor_kind <> 1 or (user_account_id is not null and token_id is not null))
    )`.execute(db);
  await sql`create index audit_entry_by_occurred on audit_entry (workspace_id, occurred_utc, id)`.execute(db);
  await sql`create index audit_entry_by_act on audit_entry (workspace_id, act, occurred_utc, id)`.execute(db);
  await sql`create index audit_entry_by_member on audit_entry (workspace_id, user_account_id, occurred_utc, id)`.execute(
    db,
  );
  await sql`create index audit_entry_by_subject on audit_entry (workspace_id, subject_id, occurred_utc, id)`.execute(
    db,
  );
  await sql`
    create function refuse_change_of_audit() returns trigger language plpgsql as $$
    begin
      raise exception 'Entries of the audit are neither changed nor removed.' using errcode = 'restrict_violation';
    end $$`.execute(db);
  await sql`
    create trigger audit_entry_is_kept before update or delete or truncate on audit_entry
      for each statement execute function refuse_change_of_audit()`.execute(db);
}
