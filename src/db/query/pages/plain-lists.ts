import { type SqlBool, sql } from 'kysely';
import { untyped } from '../any-tables.ts';
import type { Through } from '../conditions/predicate.ts';
import { type QueryBase, selectColumns } from '../query-base.ts';
import { childRows, parentColumn } from '../walks/children.ts';
import { type ChildSource, row } from '../walks/walk.ts';
import type { ValueOrSlot } from '../../statements/slots.ts';

/** A column that a plain list is ordered by: of the row itself, or of the join table. */
export interface ListOrder {
  column: string;
  of?: 'row' | 'link';
}

/** Selects all children of each parent in order, with the key of the parent, for plain lists of few rows. */
export function listsQuery(
  base: QueryBase,
  source: ChildSource,
  orderBy: readonly ListOrder[],
  parents: ValueOrSlot<readonly string[]>,
) {
  const key = parentColumn(source.parent);
  return selectColumns(childRows(base, source), base)
    .select(sql<string>`${key}`.as('parentKey'))
    .where(sql<SqlBool>`${key} = any(${parents}::uuid[])`)
    .orderBy(
      sql.join(orderBy.map(({ column, of = 'row' }) => sql.ref(`${of === 'row' ? row : 'link'}.${column}`))),
    );
}

/** Selects the keys of the children of each parent from the join table, without the children themselves. */
export function linksQuery(
  { db }: QueryBase,
  { table, parent, child }: Through,
  columns: readonly string[],
  parents: ValueOrSlot<readonly string[]>,
) {
  return untyped(db)
    .selectFrom(`${table} as link`)
    .select([`link.${parent} as parentKey`, `link.${child} as childKey`])
    .select(columns.map((column) => `link.${column}`))
    .where(sql<SqlBool>`${sql.ref(`link.${parent}`)} = any(${parents}::uuid[])`);
}
