import { type SqlBool, sql } from 'kysely';
import { listIndexes } from '../tables/list-indexes.ts';
import { clampedSum } from './aggregates.ts';
import { untyped } from './any-tables.ts';
import { countedWalk } from './bounded-count.ts';
import type { AccessedWalk } from './bounded-page.ts';
import { childRows, parentColumn, type Reading } from './page.ts';
import { type ChildSource, type Counter, row, type Source } from './walk.ts';
import { isAlways, type Predicate, predicateSql } from './predicate.ts';
import type { Given } from './slots.ts';
import { type TallyChoice, talliedRows } from './tallies.ts';

/** How the rows of all pages are counted. */
export type TotalWay =
  /** The tallies of issues are added up. */
  | { readonly by: 'tallies'; readonly choice: TallyChoice }
  /** All rows are counted, or the counter that has their number is read. */
  | { readonly by: 'rows'; readonly filter: Predicate }
  /** At most so many rows are looked at. */
  | { readonly by: 'bounds'; readonly walked: AccessedWalk };

/** The way in which a total is found. `tallied` is the choice of tallies, if any can tell it. */
export function wayOfTotal(source: Source, filter: Predicate, tallied: TallyChoice | undefined): TotalWay {
  if (hasCounter(source, filter)) return { by: 'rows', filter };
  if (tallied) return { by: 'tallies', choice: tallied };
  if (!listIndexes[source.table] || isOfOneIssue(source)) return { by: 'rows', filter };
  const walked = countedWalk(source, filter);
  const { isServed, others } = walked.access;
  // Rows that are asked for by their ids are few.
  return isServed && !isAlways(others) ? { by: 'rows', filter } : { by: 'bounds', walked };
}

/** Columns of what belongs to one issue, or to something of an issue. Such lists are counted exactly. */
const columnsOfIssues: ReadonlySet<string> = new Set([
  'issueId',
  'parentIssueId',
  'parentCommentId',
  'threadId',
]);

function isOfOneIssue({ parent }: Source): boolean {
  return parent !== undefined && 'column' in parent && columnsOfIssues.has(parent.column);
}

function hasCounter({ counter, parent }: Source, filter: Predicate): boolean {
  if (!counter || !isAlways(filter)) return false;
  return !parent || ('column' in parent && parent.column === counter.key);
}

/** The total of a list, or of the children of each parent, where one statement returns it. */
export function totalQuery(
  reading: Reading,
  source: Source,
  way: Exclude<TotalWay, { by: 'bounds' }>,
  parents?: Given<readonly string[]>,
) {
  const { parent } = source;
  if (way.by === 'rows') {
    return parent && parents
      ? countsQuery(reading, { ...source, parent }, way.filter, parents)
      : countQuery(reading, source, way.filter);
  }
  const rows = talliedRows(reading.db, way.choice);
  const count = sql<number>`greatest(${clampedSum(`${row}.issueCount`)}, 0)`.as('count');
  if (!parent || !parents) return rows.select(count);
  const key = parentColumn(parent);
  return rows
    .select([sql<string>`${key}`.as('parentKey'), count])
    .where(sql<SqlBool>`${key} = any(${parents}::uuid[])`)
    .groupBy(sql`${key}`);
}

export function countQuery({ db }: Reading, source: Source, filter: Predicate) {
  const { counter } = source;
  if (counter && hasCounter(source, filter)) {
    return untyped(db).selectFrom(`${counter.table} as ${row}`).select(counterSum(counter).as('count'));
  }
  return untyped(db)
    .selectFrom(`${source.table} as ${row}`)
    .select(sql<number>`count(*)::int`.as('count'))
    .where(predicateSql(source.where, row))
    .where(predicateSql(filter, row));
}

export function countsQuery(
  reading: Reading,
  source: ChildSource,
  filter: Predicate,
  parents: Given<readonly string[]>,
) {
  const { counter, parent } = source;
  const key = parentColumn(parent);
  if (counter && hasCounter(source, filter)) {
    return untyped(reading.db)
      .selectFrom(`${counter.table} as ${row}`)
      .select([sql<string>`${key}`.as('parentKey'), counterSum(counter).as('count')])
      .where(sql<SqlBool>`${key} = any(${parents}::uuid[])`)
      .groupBy(sql`${key}`);
  }
  return childRows(reading, source)
    .select([sql<string>`${key}`.as('parentKey'), sql<number>`count(*)::int`.as('count')])
    .where(sql<SqlBool>`${key} = any(${parents}::uuid[])`)
    .where(predicateSql(filter, row))
    .groupBy(sql`${key}`);
}

function counterSum({ column }: Counter) {
  return clampedSum(`${row}.${column}`);
}
