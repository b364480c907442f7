import { type Kysely, sql } from 'kysely';

/**
 * Where an imported row came from. A second run of an import finds its rows here, and what has no place in our
 * tables (other relations, unknown fields) is kept in `record`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table import_source (
      workspace_id uuid not null references workspace,
      source text collate "C" not null,
      kind text collate "C" not null check (kind in ('issue', 'comment', 'member')),
      source_id text collate "C" not null,
      target_id uuid not null,
      record jsonb not null default '{}',
      imported_utc timestamptz(3) not null default now(),
      primary key (workspace_id, source, kind, source_id)
    )`.execute(db);
  await sql`create index import_source_by_target on import_source (workspace_id, target_id)`.execute(db);
}
