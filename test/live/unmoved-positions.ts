import { sql } from 'kysely';
import type { Database } from '../../src/db/engine/engine.ts';
import { coveredTables } from '../../src/db/tables/position-tables.ts';
import { cachedTables } from '../../src/db/tables/cached-tables.ts';
import { inSql } from '../../src/db/tables/sql-names.ts';

/** For cached tables, triggers raise the version of reference data at each write, and so move the position. */
const byVersion = new Set(Object.keys(cachedTables).map(inSql));
const byLog = coveredTables.filter((table) => !byVersion.has(table));

/**
 * Makes the database record each transaction that changes a row of the other covered tables, and neither logs a change nor marks
 * itself as not logged. Attachments without bytes are exempt, because nobody can read them yet, and so are the counters of new
 * teams.
 */
export async function recordUnmoved(database: Database): Promise<void> {
  await sql`create table unmoved (changed text, how text)`.execute(database.unscoped);
  await sql`
    create function record_unmoved() returns trigger language plpgsql as $body$
    declare
      own xid := pg_current_xact_id()::xid;
    begin
      if old is not distinct from new
        or tg_table_name = 'team_counter' and tg_op = 'INSERT'
        or tg_table_name = 'attachment'
          and coalesce(to_jsonb(old) ->> 'uploaded_utc', to_jsonb(new) ->> 'uploaded_utc') is null
        or exists (select 1 from change_inbox where xmin = own)
        or exists (select 1 from change_head where xmin = own) then
        return null;
      end if;
      insert into unmoved values (tg_table_name, tg_op);
      return null;
    end
    $body$`.execute(database.unscoped);
  for (const table of byLog) {
    await sql`
      create constraint trigger record_unmoved after insert or update or delete on ${sql.id(table)}
        deferrable initially deferred for each row execute function record_unmoved()`.execute(
      database.unscoped,
    );
  }
}

/** The recorded changes, such as `UPDATE comment`, each once. */
export async function unmovedChanges(database: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ changed: string; how: string }>`
    select distinct changed, how from unmoved order by 1, 2`.execute(database.unscoped);
  return rows.map(({ changed, how }) => `${how} ${changed}`);
}
