import { type SqlBool, sql } from 'kysely';
import { clampedSum } from './aggregates.ts';
import { untyped } from './any-tables.ts';
import { childRows, parentColumn, type Reading } from './page.ts';
import { type ChildSource, type Counter, row, type Source } from './walk.ts';
import { isAlways, type Predicate, predicateSql } from './predicate.ts';
import type { Given } from './slots.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';

/** Counts the rows on all pages. */
export async function selectCount(db: TenantDb, source: Source, filter: Predicate): Promise<number> {
  return (await countQuery({ db }, source, filter).executeTakeFirstOrThrow()).count;
}

/** Counts the children of each parent with one grouped statement. */
export async function selectCounts(
  db: TenantDb,
  source: ChildSource,
  filter: Predicate,
  parents: readonly string[],
): Promise<Map<string, number>> {
  const counted = await countsQuery({ db }, source, filter, parents).execute();
  return new Map(counted.map(({ parentKey, count }) => [parentKey, count]));
}

export function countQuery({ db }: Reading, source: Source, filter: Predicate) {
  const { counter } = source;
  if (counter && isAlways(filter)) {
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
  if (counter && 'column' in parent && parent.column === counter.key && isAlways(filter)) {
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
