import { type AliasableExpression, type Expression, type SqlBool, sql } from 'kysely';
import { subquery } from '../query/any-tables.ts';
import type { Through } from '../query/predicate.ts';
import type { Given } from '../query/slots.ts';
import type { TableName } from './tables.ts';

/**
 * The keys of what a row is joined to, as an array, in the order of columns of the join where it has one, then of
 * themselves. `own` is the
 * column of the row that the join names it by.
 */
export function joinedKeys(
  { table, parent, child, stored }: Pick<Through, 'table' | 'parent' | 'child' | 'stored'>,
  own: string,
  order: readonly string[],
) {
  return (alias: string): AliasableExpression<unknown> => {
    const joined = subquery()
      .selectFrom(`${table} as link`)
      .select(`link.${child}`)
      .whereRef(`link.${parent}`, '=', `${alias}.${own}`);
    const columns = order.length === 0 ? [] : [...order, child];
    const ordered = columns.reduce((query, column) => query.orderBy(`link.${column}`), joined);
    const read = sql`array(${ordered})`;
    return stored === undefined ? read : sql`coalesce(${sql.ref(`${alias}.${stored}`)}, ${read})`;
  };
}

/** Does a row of the table join the row to the viewer. An `exists` was planned as a scan of all that the viewer has. */
export function joinsViewer(
  table: TableName,
  keyColumn: string,
  viewerColumn: string,
  viewer: Given<string> | Expression<string>,
) {
  return (alias: string): AliasableExpression<unknown> => {
    const joined = subquery()
      .selectFrom(`${table} as link`)
      .select(sql<SqlBool>`true`.as('joined'))
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
