import { type AliasableExpression, type Expression, type SqlBool, sql } from 'kysely';
import { subquery } from './any-tables.ts';
import type { Through } from './predicate.ts';
import type { Given } from './slots.ts';
import type { TableName } from './tables.ts';

/**
 * What a row is joined to, as an array with an entry for each: the key of the other row and, after colons, columns
 * of the join. `own` is the column of the row that the join names it by.
 */
export function joinedKeys(
  { table, parent, child, stored }: Pick<Through, 'table' | 'parent' | 'child' | 'stored'>,
  own: string,
  columns: readonly string[],
) {
  return (alias: string, workspaceId: Given<string>): AliasableExpression<unknown> => {
    const parts = [child, ...columns].map((column) => sql.ref(`link.${column}`));
    const joined = subquery()
      .selectFrom(`${table} as link`)
      .select(columns.length > 0 ? sql`concat_ws(':', ${sql.join(parts)})`.as('joined') : `link.${child}`)
      .where('link.workspaceId', '=', workspaceId)
      .whereRef(`link.${parent}`, '=', `${alias}.${own}`);
    const read = sql`array(${joined})`;
    return stored !== undefined && columns.length === 0
      ? sql`coalesce(${sql.ref(`${alias}.${stored}`)}, ${read})`
      : read;
  };
}

/** Does a row of the table join the row to the viewer. An `exists` was planned as a scan of all that the viewer has. */
export function joinsViewer(
  table: TableName,
  keyColumn: string,
  viewerColumn: string,
  viewer: Given<string> | Expression<string>,
) {
  return (alias: string, workspaceId: Given<string>): AliasableExpression<unknown> => {
    const joined = subquery()
      .selectFrom(`${table} as link`)
      .select(sql<SqlBool>`true`.as('joined'))
      .where('link.workspaceId', '=', workspaceId)
      .whereRef(`link.${keyColumn}`, '=', `${alias}.id`)
      .where(`link.${viewerColumn}`, '=', viewer)
      .limit(1);
    return sql`coalesce((${joined}), false)`;
  };
}

/** The entries of such an array, as PostgreSQL writes it: they hold nothing that it would quote. */
export function arrayEntries(text: string | null): readonly string[] {
  return text === null || text === '{}' ? [] : text.slice(1, -1).split(',');
}
