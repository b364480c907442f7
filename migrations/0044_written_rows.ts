import { type Kysely, sql } from 'kysely';

/**
 * Under an Idempotency-Key, the statement of a write keeps the row that it wrote in `written`. The answer follows in `result`,
 * and `written` is emptied then; without an answer, a repeated request is answered from the row.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`set local lock_timeout = '10s'`.execute(db);
  await sql`alter table idempotency_key add column written jsonb, alter column result drop not null`.execute(
    db,
  );
}
