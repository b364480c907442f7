import { type Kysely, sql } from 'kysely';

/**
 * A random number of the newest write of a workspace that the log of changes does not record, such as a subscription. With it and
 * the newest position, two moments without a write between them can be recognised. A workspace without a log has no row, so
 * nothing is recognised there.
 *
 * An earlier version that runs beside this one does not set it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`set local lock_timeout = '10s'`.execute(db);
  await sql`alter table change_head add column unlogged_tag bigint not null default 0`.execute(db);
}
