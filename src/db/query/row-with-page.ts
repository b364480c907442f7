import { type SelectQueryBuilder, sql } from 'kysely';
import { type AnyRow, type AnyTables, subquery, untyped } from './any-tables.ts';
import { nameOf, pageQuery, type PageSize, type ReadColumn, type Reading, type Walk } from './page.ts';

/** One row of a statement, by a name, and a page of what hangs on it. */
export interface RowWithPage {
  row: SelectQueryBuilder<AnyTables, string, AnyRow>;
  columns: readonly ReadColumn[];
  /** The column of the row that the page's rows name it by. */
  key: string;
}

/**
 * One row, and a page of its children behind it, by one statement. Each row has the columns of both, those of the other
 * null, and in the end 0 for the row and 1 for the page.
 */
export function rowWithPageQuery(
  { row: one, columns, key }: RowWithPage,
  page: Reading & { columns: readonly ReadColumn[] },
  walk: Walk,
  size: PageSize,
) {
  const db = untyped(page.db);
  const ofRow = columns.map(nameOf);
  const ofPage = page.columns.map(nameOf);
  const nothing = (name: string) => sql<null>`null`.as(name);
  return db
    .with(
      (cte) => cte('one').materialized(),
      () => one,
    )
    .selectFrom('one')
    .select(ofRow.map((name) => `one.${name}`))
    .select(ofPage.map((_name, place) => nothing(`page${place}`)))
    .select(sql<number>`0`.as('part'))
    .unionAll(
      subquery()
        .selectFrom('one')
        .innerJoinLateral(pageQuery(page, walk, size, sql.ref(`one.${key}`)).as('page'), (join) =>
          join.onTrue(),
        )
        .select(ofRow.map(nothing))
        .select(ofPage.map((name, place) => sql.ref(`page.${name}`).as(`page${place}`)))
        .select(sql<number>`1`.as('part')),
    );
}
