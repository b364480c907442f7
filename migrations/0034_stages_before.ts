import { type Kysely, sql } from 'kysely';

/**
 * What an issue was before each of its stages. So `until_utc` needs no index, and a stage ends without a new entry in each of the
 * indexes of its table. `previous_deleted` is also true of the first stage, before which there was no issue; it is null in
 * rows of earlier versions until they are filled.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`set local lock_timeout = '10s'`.execute(db);
  await sql`
    alter table issue_stage
      add column previous_status_id uuid,
      add column previous_deleted boolean`.execute(db);
}
