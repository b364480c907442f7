import { type SelectQueryBuilder, sql } from 'kysely';
import { type AnyRow, type AnyTables, subquery, untyped } from '../any-tables.ts';
import { nameOf, type ReadColumn, type QueryBase } from '../query-base.ts';
import { pageQuery, type PageSize } from './page.ts';
import type { Walk } from '../walks/walk.ts';

/** The row of a combined statement that reads it together with a page of its children. */
export interface RowWithPage {
  row: SelectQueryBuilder<AnyTables, string, AnyRow>;
  columns: readonly ReadColumn[];
  /** The column of the row that its children refer to. */
  key: string;
}

/**
 * Selects one row, followed by a page of its children. Each result row has the columns of both; the columns of the
 * other part are null. The last column, `part`, is 0 for the row and 1 for its children.
 */
export function rowWithPageQuery(
  { row: one, columns, key }: RowWithPage,
  page: QueryBase & { columns: readonly ReadColumn[] },
  walk: Walk,
  size: PageSize,
) {
  const db = untyped(page.db);
  const ofRow = columns.map(nameOf);
  const ofPage = page.columns.map(nameOf);
  const nullColumn = (name: string) => sql<null>`null`.as(name);
  return db
    .with(
      (cte) => cte('one').materialized(),
      () => one,
    )
    .selectFrom('one')
    .select(ofRow.map((name) => `one.${name}`))
    .select(ofPage.map((_name, index) => nullColumn(`page${index}`)))
    .select(sql<number>`0`.as('part'))
    .unionAll(
      subquery()
        .selectFrom('one')
        .innerJoinLateral(pageQuery(page, walk, size, sql.ref(`one.${key}`)).as('page'), (join) =>
          join.onTrue(),
        )
        .select(ofRow.map(nullColumn))
        .select(ofPage.map((name, index) => sql.ref(`page.${name}`).as(`page${index}`)))
        .select(sql<number>`1`.as('part')),
    );
}
