import { type Expression, type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { type AnyRow, type AnyTables, subquery, untyped } from '../any-tables.ts';
import { predicateSql } from '../conditions/predicate.ts';
import type { QueryBase } from '../query-base.ts';
import type { ValueOrSlot } from '../../statements/slots.ts';
import { type Parent, row, type Source } from './walk.ts';

type Query = SelectQueryBuilder<AnyTables, string, AnyRow>;

/** The column by which the rows of a source refer to their parent. */
export function parentColumn(parent: Parent): RawBuilder<unknown> {
  return 'through' in parent ? sql.ref(`link.${parent.through.parent}`) : sql.ref(`${row}.${parent.column}`);
}

/** The parents with their ordinals, from 1, as the table `parent`. */
export function parentKeys(parents: ValueOrSlot<readonly string[]>) {
  return sql<{ key: string; ordinal: number }>`unnest(${parents}::uuid[]) with ordinality`.as<'parent'>(
    sql`parent(key, ordinal)`,
  );
}

/** Selects the rows of a source, joined with the join table as `link` if there is one. */
export function childRows({ db }: QueryBase, source: Source) {
  const through = source.parent && 'through' in source.parent ? source.parent.through : undefined;
  return untyped(db)
    .selectFrom(`${source.table} as ${row}`)
    .$if(through !== undefined, (query) =>
      query.innerJoin(`${through?.table} as link`, `link.${through?.child}`, `${row}.${through?.by}`),
    )
    .where(predicateSql(source.where, row));
}

/** The rows of a source under one parent. */
export function childrenOf(base: QueryBase, source: Source, key: RawBuilder<unknown>): Query {
  if (!source.parent) throw new Error('The source has no parent.');
  const isOfParent: Expression<SqlBool> = sql<SqlBool>`${parentColumn(source.parent)} = ${key}`;
  return childRows(base, source).where(isOfParent);
}

/**
 * Joins rows with their parents, by looking up those of each row: `offset 0` keeps the planner from reading all links.
 */
export function linkedRows(rows: Query, parent: Parent): Query {
  if (!('through' in parent)) return rows;
  const { table, parent: key, child, by } = parent.through;
  const links = subquery()
    .selectFrom(`${table} as link`)
    .select(`link.${key}`)
    .whereRef(`link.${child}`, '=', `${row}.${by}`)
    .offset(sql.lit(0));
  return rows.innerJoinLateral(links.as('link'), (join) => join.onTrue());
}
