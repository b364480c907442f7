import { type Kysely, sql } from 'kysely';

/**
 * The texts by which issues are searched, apart from the issues. An index of words on `issue` was rewritten with each
 * comment and change of status, since those change other columns that have indexes. A row is written when the title is,
 * and stays while its issue is deleted. It is found by an index that begins with the workspace, which takes `btree_gin`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create extension if not exists btree_gin`.execute(db);
  // Without a foreign key: it is a copy of what the issue has, and is removed with it.
  await sql`
    create table issue_text (
      workspace_id uuid not null,
      issue_id uuid not null,
      title_fold text collate "C" not null,
      primary key (workspace_id, issue_id)
    ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 100)`.execute(db);
}
