import { sql } from 'kysely';
import { fold } from '../../model/fold.ts';
import type { UnscopedTrx } from '../engine/transaction.ts';
import type { Rule, Restriction } from './rule.ts';

/** A column with the folded form of the text in another column of the same row. */
interface FoldedColumn {
  readonly table: string;
  readonly column: string;
  readonly folded: string;
}

/** More rows at once would take more memory, fewer would take more statements. */
const rowsPerSlice = 5_000;

const lowestId = '00000000-0000-0000-0000-000000000000';

/**
 * A rule for each text of the catalog with a folded copy beside it, `name` and `name_fold`. Lists sort by these copies and search in
 * them.
 */
export async function foldRules(trx: UnscopedTrx): Promise<Rule[]> {
  const { rows } = await sql<FoldedColumn>`
    select c.oid::regclass::text as table, t.attname::text as column, f.attname::text as folded
    from pg_class c
      join pg_attribute f on f.attrelid = c.oid and f.attname like '%\\_fold' and not f.attisdropped
      join pg_attribute t on t.attrelid = c.oid and t.attname || '_fold' = f.attname and not t.attisdropped
    where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = current_schema()::regnamespace
    order by 1, 2`.execute(trx);
  return rows.map(ruleOf);
}

function ruleOf({ table, column, folded }: FoldedColumn): Rule {
  return {
    name: `${folded} of ${table} is its ${column} in folded form`,
    covers: [`${table}.${folded}`],
    statement: async (trx, within, limit) => {
      const { ids, unlisted } = await selectWrong(trx, within, { table, column, folded }, limit);
      // The database folds ASCII like this program, which therefore reads other texts only.
      const faulty = `
        select r.workspace_id, '${table} ' || r.id as key, format('${folded} %L, ${column} %L', r.${folded}, r.${column}) as detail
        from ${table} r
        where (r.${folded} is distinct from lower(r.${column} collate "C") and not coalesce(${isBeyondAscii(`r.${column}`)}, false))
          or r.id = any(array[${ids.map((id) => `'${id}'`).join()}]::uuid[])`;
      return { sql: faulty, unlisted };
    },
  };
}

/**
 * The ids of the first rows whose text is not ASCII and whose folded copy is wrong, and the number of the others: a new version of
 * Unicode may change many. Reads slice by slice, so memory stays flat.
 */
async function selectWrong(
  trx: UnscopedTrx,
  within: Restriction,
  { table, column, folded }: FoldedColumn,
  limit: number,
): Promise<{ ids: string[]; unlisted: number }> {
  const ids: string[] = [];
  let unlisted = 0;
  for (let last = { workspaceId: lowestId, id: lowestId }; ; ) {
    const { rows } = await sql
      .raw<{ workspaceId: string; id: string; text: string; folded: string | null }>(
        within(`
          select r.workspace_id, r.id, r.${column} as text, r.${folded} as folded from ${table} r
          where ${isBeyondAscii(`r.${column}`)} and (r.workspace_id, r.id) > ('${last.workspaceId}', '${last.id}')
          order by r.workspace_id, r.id limit ${rowsPerSlice}`),
      )
      .execute(trx);
    for (const row of rows) {
      if (fold(row.text) === row.folded) continue;
      if (ids.length < limit) ids.push(row.id);
      else unlisted += 1;
    }
    last = rows.at(-1) ?? last;
    if (rows.length < rowsPerSlice) return { ids, unlisted };
  }
}

/** Whether a text has a character of several bytes. */
function isBeyondAscii(text: string): string {
  return `octet_length(${text}) > char_length(${text})`;
}
