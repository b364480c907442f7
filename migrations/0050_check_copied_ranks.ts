import { type Kysely, sql } from 'kysely';

/** Checks the foreign keys of 0049 on the rows that were there before, without holding up who writes them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`set local lock_timeout = '10s'`.execute(db);
  await sql`alter table issue validate constraint issue_has_copy_of_status`.execute(db);
  await sql`alter table project validate constraint project_has_copy_of_project_status`.execute(db);
  await sql`alter table project validate constraint project_has_copy_of_member`.execute(db);
}
