import { type Kysely, sql } from 'kysely';

/**
 * People and programs. An account is global and says nothing but that it exists; what a workspace knows of it
 * (name, address, role) is its member row, so two workspaces never share a fact.
 * Every other table points at a person by (workspace_id, user_account_id).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table user_account (id uuid primary key, created_utc timestamptz(3) not null default now())`.execute(
    db,
  );
  await sql`
    create table member (
      workspace_id uuid not null references workspace,
      id uuid not null,
      user_account_id uuid not null references user_account,
      display_name text not null check (char_length(display_name) between 1 and 255),
      display_name_fold text collate "C" not null,
      avatar_url text,
      email_address text,
      email_address_fold text collate "C",
      principal_kind smallint not null check (principal_kind between 1 and 3),
      role smallint not null check (role between 1 and 4),
      status smallint not null check (status between 1 and 4),
      created_utc timestamptz(3) not null default now(),
      updated_utc timestamptz(3) not null default now(),
      primary key (workspace_id, id),
      unique (workspace_id, user_account_id),
      -- the target of the cascade that keeps a project's order by lead true
      unique (workspace_id, user_account_id, display_name_fold)
    )`.execute(db);
  await sql`create unique index member_email on member (workspace_id, email_address_fold) where email_address_fold is not null`.execute(
    db,
  );
  await sql`create index member_by_display_name on member (workspace_id, display_name_fold, id)`.execute(db);
  await sql`create index member_by_role on member (workspace_id, role, id)`.execute(db);
  await sql`create index member_by_status on member (workspace_id, status, id)`.execute(db);
  await sql`create index member_display_name_trigram on member using gin (display_name_fold gin_trgm_ops)`.execute(
    db,
  );
  await sql`create index member_email_trigram on member using gin (email_address_fold gin_trgm_ops)`.execute(
    db,
  );
}
