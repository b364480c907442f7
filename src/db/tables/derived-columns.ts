import { type AliasableExpression, type Expression, type SqlBool, sql } from 'kysely';
import { subquery } from '../query/any-tables.ts';
import type { Through } from '../query/conditions/predicate.ts';
import type { ValueOrSlot } from '../statements/slots.ts';
import type { TableName } from './tables.ts';

/**
 * An array of the keys that a join table connects with a row, ordered by columns of the join table if there are any,
 * then by the keys. `own` is the column of the row that the join table refers to.
 */
export function linkedKeys(
  { table, parent, child, stored }: Pick<Through, 'table' | 'parent' | 'child' | 'stored'>,
  own: string,
  order: readonly string[],
) {
  return (alias: string): AliasableExpression<unknown> => {
    const linked = subquery()
      .selectFrom(`${table} as link`)
      .select(`link.${child}`)
      .whereRef(`link.${parent}`, '=', `${alias}.${own}`);
    const columns = order.length === 0 ? [] : [...order, child];
    const ordered = columns.reduce((query, column) => query.orderBy(`link.${column}`), linked);
    const keys = sql`array(${ordered})`;
    return stored === undefined ? keys : sql`coalesce(${sql.ref(`${alias}.${stored}`)}, ${keys})`;
  };
}

/**
 * Whether a join table connects the row with the viewer. It is not an `exists`, which the planner may turn into a scan
 * of all the viewer's rows.
 */
export function isLinkedToViewer(
  table: TableName,
  keyColumn: string,
  viewerColumn: string,
  viewer: ValueOrSlot<string> | Expression<string>,
) {
  return (alias: string): AliasableExpression<unknown> => {
    const linked = subquery()
      .selectFrom(`${table} as link`)
      .select(sql<SqlBool>`true`.as('joined'))
      .whereRef(`link.${keyColumn}`, '=', `${alias}.id`)
      .where(`link.${viewerColumn}`, '=', viewer)
      .limit(1);
    return sql`coalesce((${linked}), false)`;
  };
}

/** The entries of an array in PostgreSQL's text format. The keys contain no characters that would be quoted. */
export function arrayEntries(text: string | null): readonly string[] {
  return text === null || text === '{}' ? [] : text.slice(1, -1).split(',');
}
