import { type Expression, type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { Access } from '../walks/access.ts';
import { type AnyRow, type AnyTables, subquery, untyped } from '../any-tables.ts';
import { matchesOf } from '../walks/matches.ts';
import {
  childRows,
  nameOf,
  type PageSize,
  parentColumn,
  parentKeys,
  type Reading,
  selected,
} from './page.ts';
import { always, type Predicate, predicateSql } from '../conditions/predicate.ts';
import type { ValueOrSlot } from '../../statements/slots.ts';
import {
  between,
  orderSql,
  type Parent,
  row,
  type Source,
  sortSql,
  stretchesOf,
  typeOf,
  type Walk,
} from '../walks/walk.ts';

/**
 * A statement that reads pages and looks at a bounded number of rows:
 * - `walk`: along the order of the list, at most `rows` of them under each parent;
 * - `shared`: the same for all parents together, where no index has the rows of each parent in this order;
 * - `children`: all rows of each parent that has at most `rows` of them, sorted;
 * - `few`: all rows that match one condition of the filter, sorted. There are known to be far fewer than `rows`.
 */
export type PageStep = { read: 'walk' | 'shared' | 'children'; rows: number } | FewStep;
export interface FewStep {
  read: 'few';
  candidate: number;
  rows: number;
}

/** A walk, and how its rows can be found. */
export interface AccessedWalk {
  readonly walk: Walk;
  readonly access: Access;
}

type Query = SelectQueryBuilder<AnyTables, string, AnyRow>;

/**
 * Two columns after those of each row, which are null in the rows of a page. If a step reached its bound before the page was
 * full, it returns one more row: its stop, in which these columns have the position of the last row that it looked at.
 */
export const stopColumns = ['stopValue', 'stopId'] as const;

/** Selects what one step reads of a page, or of the page of each parent. The ordinal of the parent is the last column. */
export function stepQuery(
  reading: Reading,
  walked: AccessedWalk,
  size: PageSize,
  step: PageStep,
  parents?: ValueOrSlot<readonly string[]>,
): Query {
  if (step.read === 'few') return fewQuery(reading, walked, size, step, parents);
  if (!parents) return walkQuery(reading, walked, size, step.rows);
  if (step.read === 'children') return childrenQuery(reading, walked, size, step.rows, parents);
  if (step.read === 'shared') return sharedQuery(reading, walked, size, step.rows, parents);
  const page = walkQuery(reading, walked, size, step.rows, sql.ref('parent.key'));
  return selected(
    untyped(reading.db)
      .selectFrom(parentKeys(parents))
      .innerJoinLateral(page.as('page'), (join) => join.onTrue()),
    named(reading),
    'page',
  )
    .$if(reading.columns !== undefined, (query) => query.select(stopColumns.map((name) => `page.${name}`)))
    .select(sql<number>`parent.ordinal`.as('parentOrdinal'))
    .orderBy('parent.ordinal');
}

/** Looks at rows along the order. The inner limit is a bound, because the planner moves no condition into a query with a limit. */
function walkQuery(
  reading: Reading,
  walked: AccessedWalk,
  size: PageSize,
  rows: number,
  parent?: RawBuilder<unknown>,
): Query {
  const { db } = reading;
  const { kind } = walked.walk.order;
  const looked = lookedAt(reading, walked, rows, (query) => query.selectAll(row), parent);
  const page = selected(untyped(db).selectFrom(looked.as(row)), reading)
    .select([sql`null::${typeOf(kind)}`.as(stopColumns[0]), sql`null::uuid`.as(stopColumns[1])])
    .where(predicateSql(checkedOf(walked), row, 'eachRow'))
    .limit(plannedRows(size));
  const stop = untyped(db).selectFrom(lastLookedAt(reading, walked, rows, parent).as('stop'));
  const nothing = reading.columns
    ? stop.select(reading.columns.map((column) => sql<null>`null`.as(nameOf(column))))
    : stop
        .leftJoin(
          // A condition that is never true would have the planner drop the workspace beside it.
          (eb) =>
            eb.selectFrom(`${walked.walk.source.table} as none`).selectAll('none').limit(sql.lit(0)).as(row),
          (join) => join.onTrue(),
        )
        .selectAll(row);
  // The rows of the page come first; the stop is read only if they are too few.
  const both = (page as Query).unionAll(nothing.select(stopColumns.map((name) => `stop.${name}`)));
  return untyped(db).selectFrom(both.as('page')).selectAll().limit(wantedRows(size));
}

/** Looks at rows along the order for all parents together, and takes the first ones of each. */
function sharedQuery(
  reading: Reading,
  walked: AccessedWalk,
  size: PageSize,
  rows: number,
  parents: ValueOrSlot<readonly string[]>,
): Query {
  const { walk } = walked;
  const { db } = reading;
  const looked = lookedAt(reading, walked, rows, (query) => query.selectAll(row));
  const matching = untyped(db)
    .selectFrom(looked.as(row))
    .where(predicateSql(checkedOf(walked), row, 'eachRow'));
  const stop = untyped(db)
    .selectFrom(lastLookedAt(reading, walked, rows).as('stop'))
    .select([
      sql`null::uuid`.as('id'),
      ...stopColumns.map((name) => `stop.${name}` as const),
      sql<number>`0`.as('parentOrdinal'),
      sql<number>`0`.as('nth'),
    ]) as Query;
  return withRows(reading, walk.source, firstOfEach(reading, walk, size, parents, matching).unionAll(stop));
}

/** Reads all rows that match one condition. */
function fewQuery(
  reading: Reading,
  { walk, access }: AccessedWalk,
  size: PageSize,
  { candidate, rows }: FewStep,
  parents: ValueOrSlot<readonly string[]> | undefined,
): Query {
  const { source } = walk;
  const { db } = reading;
  const chosen = access.candidates[candidate];
  if (!chosen) throw new Error('A step reads one of the candidates.');
  const found = matchesOf(reading, source, chosen, rows)
    .selectAll(row)
    // Without a limit, the planner might walk along the order of the list, or read the whole table, to find the matches.
    .limit(sql.lit(rows));
  const matching = between(
    untyped(db)
      .selectFrom(found.as(row))
      .where(predicateSql(chosen.rest, row, 'eachRow')),
    walk,
  );
  if (parents) return withRows(reading, source, firstOfEach(reading, walk, size, parents, matching));
  return selected(matching, reading)
    .select(stopColumns.map((name) => sql<null>`null`.as(name)))
    .orderBy(sortSql(row, walk))
    .limit(wantedRows(size));
}

/** Reads all children of each parent that has at most `most`; of every other parent, a stop with its key. */
function childrenQuery(
  reading: Reading,
  { walk }: AccessedWalk,
  size: PageSize,
  most: number,
  parents: ValueOrSlot<readonly string[]>,
): Query {
  const { source, filter, order } = walk;
  const { db } = reading;
  const ofParent = () => childrenOf(reading, source, sql.ref('parent.key'));
  const some = linksOrRows(reading, source)
    .select(sql.lit(1).as('found'))
    .limit(sql.lit(most + 1));
  const counted = untyped(db).selectFrom(some.as('children')).select(sql<number>`count(*)`.as('count'));
  const isFew = sql<SqlBool>`counted.count <= ${sql.lit(most)}`;
  const children = untyped(db).selectFrom(ofParent().selectAll(row).offset(sql.lit(0)).as(row));
  const page = selected(between(children, walk), reading)
    .select(sql.lit(1).as('found'))
    .where(isFew)
    .where(predicateSql(filter, row, 'eachRow'))
    .orderBy(sortSql(row, walk))
    .limit(wantedRows(size));
  return selected(
    untyped(db)
      .selectFrom(parentKeys(parents))
      .innerJoinLateral(counted.as('counted'), (join) => join.onTrue())
      .leftJoinLateral(page.as('page'), (join) => join.onTrue()) as Query,
    named(reading),
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

/** The conditions that are checked on each row that a step looks at. */
export function checkedOf({ walk: { source }, access: { others, hasDeleted } }: AccessedWalk): Predicate {
  return hasDeleted ? { all: [source.where, others] } : others;
}

/** The rows that a step looks at along the order, under one parent or in the whole workspace. */
export function lookedAt(
  reading: Reading,
  { walk, access }: AccessedWalk,
  rows: number,
  select: (query: Query) => Query,
  parent?: RawBuilder<unknown>,
): Query {
  const { order, backward } = walk;
  const source = access.hasDeleted ? { ...walk.source, where: always } : walk.source;
  const base = parent
    ? childrenOf(reading, source, parent)
    : untyped(reading.db).selectFrom(`${source.table} as ${row}`).where(predicateSql(source.where, row));
  const [first, second] = stretchesOf(walk).map((conditions) =>
    select(conditions.reduce<Query>((query, condition) => query.where(condition), base as Query))
      .where(predicateSql(access.inside, row))
      .orderBy(orderSql(row, order, backward))
      .limit(sql.lit(rows)),
  );
  if (!first) throw new Error('A walk has one stretch or two.');
  if (!second) return first;
  const all = (stretch: Query) => untyped(reading.db).selectFrom(stretch.as('stretch')).selectAll();
  const both = all(first).unionAll(all(second));
  return untyped(reading.db).selectFrom(both.as('stretches')).selectAll().limit(sql.lit(rows));
}

/** Selects the position of the last row that a step may look at, if there are so many rows. An index has both columns. */
function lastLookedAt(
  reading: Reading,
  walked: AccessedWalk,
  rows: number,
  parent?: RawBuilder<unknown>,
): Query {
  const { column } = walked.walk.order;
  const keys = lookedAt(
    reading,
    walked,
    rows,
    (query) => query.select([`${row}.${column} as ${stopColumns[0]}`, `${row}.id as ${stopColumns[1]}`]),
    parent,
  );
  return untyped(reading.db)
    .selectFrom(keys.as('looked'))
    .selectAll()
    .limit(sql.lit(1))
    .offset(sql.lit(rows - 1));
}

/** The ids of the first rows of each parent, with the ordinal of the parent and their number under it. */
function firstOfEach(
  { db }: Reading,
  walk: Walk,
  size: PageSize,
  parents: ValueOrSlot<readonly string[]>,
  matching: Query,
): Query {
  const { parent } = walk.source;
  if (!parent) throw new Error('Only children have parents.');
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

/** Joins rows with their parents, by looking up those of each row: `offset 0` keeps the planner from reading all links. */
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

/** The rows with the ids, in the order of the ids. */
function withRows(reading: Reading, { table }: Source, ids: Query): Query {
  return selected(
    untyped(reading.db)
      .selectFrom(ids.as('page'))
      .leftJoin(`${table} as ${row}`, `${row}.id`, 'page.id') as Query,
    reading,
  )
    .select([...stopColumns.map((name) => `page.${name}`), 'page.parentOrdinal'])
    .orderBy('page.parentOrdinal')
    .orderBy('page.nth');
}

/** The rows that refer to a parent: those of the join table where there is one, without the children themselves. */
function linksOrRows(reading: Reading, source: Source): Query {
  const key = sql.ref('parent.key');
  if (!source.parent || !('through' in source.parent)) return childrenOf(reading, source, key);
  return untyped(reading.db)
    .selectFrom(`${source.parent.through.table} as link`)
    .where(sql<SqlBool>`${parentColumn(source.parent)} = ${key}`);
}

function childrenOf(reading: Reading, source: Source, key: RawBuilder<unknown>): Query {
  if (!source.parent) throw new Error('Only children have parents.');
  const isOfParent: Expression<SqlBool> = sql<SqlBool>`${parentColumn(source.parent)} = ${key}`;
  return childRows(reading, source).where(isOfParent);
}

/** The same columns by their names in a subquery. */
function named(reading: Reading): Reading {
  return { ...reading, ...(reading.columns && { columns: reading.columns.map(nameOf) }) };
}

function wantedRows(size: PageSize): RawBuilder<number> {
  return 'exactly' in size ? sql.lit(size.exactly) : sql<number>`${size.rows}`;
}

/** The number of rows that the planner assumes. */
function plannedRows(size: PageSize): RawBuilder<number> {
  return 'rows' in size && size.atMost !== undefined ? sql.lit(size.atMost) : wantedRows(size);
}
