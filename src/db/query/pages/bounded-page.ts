import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { type AnyRow, type AnyTables, untyped } from '../any-tables.ts';
import { predicateSql } from '../conditions/predicate.ts';
import { withColumnNames, nameOf, type QueryBase, selectColumns } from '../query-base.ts';
import type { PlannedWalk } from '../walks/index-use.ts';
import { childrenOf, linkedRows, parentColumn, parentKeys } from '../walks/children.ts';
import { checkedOf, examinedRows } from '../walks/examined-rows.ts';
import { candidateOf, type FewStep, limitedMatches } from '../walks/matches.ts';
import { betweenPositions, row, type Source, sortSql, typeOf, type Walk } from '../walks/walk.ts';
import type { ValueOrSlot } from '../../statements/slots.ts';
import { type PageSize, plannedRows, wantedRows } from './page.ts';

/**
 * A statement that reads pages and examines a bounded number of rows:
 * - `walk`: along the order of the list, at most `rows` of them under each parent;
 * - `shared`: the same for all parents together, where no index has the rows of each parent in this order;
 * - `children`: all rows of each parent that has at most `rows` of them, sorted;
 * - `few`: all rows that match one condition of the filter, sorted. There are known to be far fewer than `rows`.
 */
export type PageStep = { read: 'walk' | 'shared' | 'children'; rows: number } | FewStep;

type Query = SelectQueryBuilder<AnyTables, string, AnyRow>;

/**
 * Two columns after those of each row, which are null in the rows of a page. If a step reached its bound before the
 * page was full, it returns one more row: its stop, in which these columns have the position of the last row that it
 * examined.
 */
export const stopColumns = ['stopValue', 'stopId'] as const;

/**
 * Selects what one step reads of a page, or of the page of each parent. The ordinal of the parent is the last column.
 */
export function stepQuery(
  base: QueryBase,
  planned: PlannedWalk,
  size: PageSize,
  step: PageStep,
  parents?: ValueOrSlot<readonly string[]>,
): Query {
  if (step.read === 'few') return fewQuery(base, planned, size, step, parents);
  if (!parents) return walkQuery(base, planned, size, step.rows);
  if (step.read === 'children') return childrenQuery(base, planned, size, step.rows, parents);
  if (step.read === 'shared') return sharedQuery(base, planned, size, step.rows, parents);
  const page = walkQuery(base, planned, size, step.rows, sql.ref('parent.key'));
  return selectColumns(
    untyped(base.db)
      .selectFrom(parentKeys(parents))
      .innerJoinLateral(page.as('page'), (join) => join.onTrue()),
    withColumnNames(base),
    'page',
  )
    .$if(base.columns !== undefined, (query) => query.select(stopColumns.map((name) => `page.${name}`)))
    .select(sql<number>`parent.ordinal`.as('parentOrdinal'))
    .orderBy('parent.ordinal');
}

/**
 * Examines rows along the order. The inner limit is a bound, because the planner moves no condition into a query with a
 * limit.
 */
function walkQuery(
  base: QueryBase,
  planned: PlannedWalk,
  size: PageSize,
  rows: number,
  parent?: RawBuilder<unknown>,
): Query {
  const { db } = base;
  const { kind } = planned.walk.order;
  const examined = examinedRows(base, planned, rows, (query) => query.selectAll(row), parent);
  const page = selectColumns(untyped(db).selectFrom(examined.as(row)), base)
    .select([sql`null::${typeOf(kind)}`.as(stopColumns[0]), sql`null::uuid`.as(stopColumns[1])])
    .where(predicateSql(checkedOf(planned), row, 'eachRow'))
    .limit(plannedRows(size));
  const stop = untyped(db).selectFrom(lastExamined(base, planned, rows, parent).as('stop'));
  const stopRow = base.columns
    ? stop.select(base.columns.map((column) => sql<null>`null`.as(nameOf(column))))
    : stop
        .leftJoin(
          // A condition that is never true would make the planner drop the workspace condition next to it.
          (eb) =>
            eb.selectFrom(`${planned.walk.source.table} as none`).selectAll('none').limit(sql.lit(0)).as(row),
          (join) => join.onTrue(),
        )
        .selectAll(row);
  // The rows of the page come first; the stop is read only if they are too few.
  const pageAndStop = (page as Query).unionAll(stopRow.select(stopColumns.map((name) => `stop.${name}`)));
  return untyped(db).selectFrom(pageAndStop.as('page')).selectAll().limit(wantedRows(size));
}

/** Examines rows along the order for all parents together, and takes the first ones of each. */
function sharedQuery(
  base: QueryBase,
  planned: PlannedWalk,
  size: PageSize,
  rows: number,
  parents: ValueOrSlot<readonly string[]>,
): Query {
  const { walk } = planned;
  const { db } = base;
  const examined = examinedRows(base, planned, rows, (query) => query.selectAll(row));
  const matching = untyped(db)
    .selectFrom(examined.as(row))
    .where(predicateSql(checkedOf(planned), row, 'eachRow'));
  const stop = untyped(db)
    .selectFrom(lastExamined(base, planned, rows).as('stop'))
    .select([
      sql`null::uuid`.as('id'),
      ...stopColumns.map((name) => `stop.${name}` as const),
      sql<number>`0`.as('parentOrdinal'),
      sql<number>`0`.as('nth'),
    ]) as Query;
  return withRows(base, walk.source, firstOfEach(base, walk, size, parents, matching).unionAll(stop));
}

/** Reads all rows that match one condition. */
function fewQuery(
  base: QueryBase,
  { walk, indexUse }: PlannedWalk,
  size: PageSize,
  step: FewStep,
  parents: ValueOrSlot<readonly string[]> | undefined,
): Query {
  const { source } = walk;
  const { db } = base;
  const chosen = candidateOf(indexUse, step);
  const found = limitedMatches(base, source, chosen, step.rows);
  const matching = betweenPositions(
    untyped(db)
      .selectFrom(found.as(row))
      .where(predicateSql(chosen.rest, row, 'eachRow')),
    walk,
  );
  if (parents) return withRows(base, source, firstOfEach(base, walk, size, parents, matching));
  return selectColumns(matching, base)
    .select(stopColumns.map((name) => sql<null>`null`.as(name)))
    .orderBy(sortSql(row, walk))
    .limit(wantedRows(size));
}

/** Reads all children of each parent that has at most `max`; of every other parent, a stop with its key. */
function childrenQuery(
  base: QueryBase,
  { walk }: PlannedWalk,
  size: PageSize,
  max: number,
  parents: ValueOrSlot<readonly string[]>,
): Query {
  const { source, filter, order } = walk;
  const { db } = base;
  const firstChildren = linksOrRows(base, source)
    .select(sql.lit(1).as('found'))
    .limit(sql.lit(max + 1));
  const counted = untyped(db)
    .selectFrom(firstChildren.as('children'))
    .select(sql<number>`count(*)`.as('count'));
  const isFew = sql<SqlBool>`counted.count <= ${sql.lit(max)}`;
  const children = untyped(db).selectFrom(
    childrenOf(base, source, sql.ref('parent.key')).selectAll(row).offset(sql.lit(0)).as(row),
  );
  const page = selectColumns(betweenPositions(children, walk), base)
    .select(sql.lit(1).as('found'))
    .where(isFew)
    .where(predicateSql(filter, row, 'eachRow'))
    .orderBy(sortSql(row, walk))
    .limit(wantedRows(size));
  return selectColumns(
    untyped(db)
      .selectFrom(parentKeys(parents))
      .innerJoinLateral(counted.as('counted'), (join) => join.onTrue())
      .leftJoinLateral(page.as('page'), (join) => join.onTrue()) as Query,
    withColumnNames(base),
    'page',
  )
    .select([
      sql`null::${typeOf(order.kind)}`.as(stopColumns[0]),
      sql`case when not ${isFew} then parent.key end`.as(stopColumns[1]),
      sql<number>`parent.ordinal`.as('parentOrdinal'),
    ])
    .where(sql<SqlBool>`(page.found is not null or not ${isFew})`)
    .orderBy('parent.ordinal');
}

/**
 * Selects the position of the last row that a step may examine, if there are that many rows. An index has both columns.
 */
function lastExamined(
  base: QueryBase,
  planned: PlannedWalk,
  rows: number,
  parent?: RawBuilder<unknown>,
): Query {
  const { column } = planned.walk.order;
  const keys = examinedRows(
    base,
    planned,
    rows,
    (query) => query.select([`${row}.${column} as ${stopColumns[0]}`, `${row}.id as ${stopColumns[1]}`]),
    parent,
  );
  return untyped(base.db)
    .selectFrom(keys.as('examined'))
    .selectAll()
    .limit(sql.lit(1))
    .offset(sql.lit(rows - 1));
}

/** The ids of the first rows of each parent, with the ordinal of the parent and their number under it. */
function firstOfEach(
  { db }: QueryBase,
  walk: Walk,
  size: PageSize,
  parents: ValueOrSlot<readonly string[]>,
  matching: Query,
): Query {
  const { parent } = walk.source;
  if (!parent) throw new Error('The source has no parent.');
  const key = parentColumn(parent);
  const numbered = linkedRows(matching, parent)
    .select([
      `${row}.id`,
      sql`${key}`.as('parentKey'),
      sql<number>`row_number() over (partition by ${key} order by ${sortSql(row, walk)})`.as('nth'),
    ])
    .where(sql<SqlBool>`${key} = any(${parents}::uuid[])`);
  return untyped(db)
    .selectFrom(numbered.as('numbered'))
    .innerJoin(parentKeys(parents), (join) =>
      join.on(sql<SqlBool>`parent.key = ${sql.ref('numbered.parentKey')}`),
    )
    .select([
      'numbered.id',
      sql`null::${typeOf(walk.order.kind)}`.as(stopColumns[0]),
      sql`null::uuid`.as(stopColumns[1]),
      sql<number>`parent.ordinal`.as('parentOrdinal'),
      'numbered.nth',
    ])
    .where(sql<SqlBool>`numbered.nth <= ${wantedRows(size)}`);
}

/** The rows with the ids, in the order of the ids. */
function withRows(base: QueryBase, { table }: Source, ids: Query): Query {
  return selectColumns(
    untyped(base.db)
      .selectFrom(ids.as('page'))
      .leftJoin(`${table} as ${row}`, `${row}.id`, 'page.id') as Query,
    base,
  )
    .select([...stopColumns.map((name) => `page.${name}`), 'page.parentOrdinal'])
    .orderBy('page.parentOrdinal')
    .orderBy('page.nth');
}

/** The rows that refer to a parent: those of the join table where there is one, without the children themselves. */
function linksOrRows(base: QueryBase, source: Source): Query {
  const key = sql.ref('parent.key');
  if (!source.parent || !('through' in source.parent)) return childrenOf(base, source, key);
  return untyped(base.db)
    .selectFrom(`${source.parent.through.table} as link`)
    .where(sql<SqlBool>`${parentColumn(source.parent)} = ${key}`);
}
