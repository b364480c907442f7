import { type Kysely, sql } from 'kysely';

/** The tenant itself. Its key is called workspace_id, as in every other table, so that one rule guards them all. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create extension if not exists pg_trgm`.execute(db);
  await sql`
    create table workspace (
      workspace_id uuid primary key,
      id uuid not null generated always as (workspace_id) stored,
      name text not null check (char_length(name) between 1 and 255),
      created_utc timestamptz(3) not null default now(),
      updated_utc timestamptz(3) not null default now()
    )`.execute(db);
}
