import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { type PlannedWalk, indexUseOf } from '../walks/index-use.ts';
import { type AnyRow, type AnyTables, untyped } from '../any-tables.ts';
import { checkedOf, examinedRows } from '../walks/examined-rows.ts';
import type { FewStep } from '../walks/matches.ts';
import { childRows, linkedRows, parentColumn, parentKeys } from '../walks/children.ts';
import type { QueryBase } from '../query-base.ts';
import { candidateOf, limitedMatches } from '../walks/matches.ts';
import { listIndexes } from '../../tables/list-indexes.ts';
import { type Predicate, predicateSql } from '../conditions/predicate.ts';
import type { ValueOrSlot } from '../../statements/slots.ts';
import { type ChildSource, row, type Source } from '../walks/walk.ts';

/**
 * A statement that counts matches among a bounded number of rows: those along an index, or those that match one
 * condition.
 */
export type CountStep = { read: 'walk'; rows: number } | FewStep;

type Query = SelectQueryBuilder<AnyTables, string, AnyRow>;

/**
 * The walk that counts the rows of a filter. It goes from the newest row back, whatever the order of the list, because
 * rows that were written one after the other are on the same pages of the table.
 */
export function countedWalk(source: Source, filter: Predicate): PlannedWalk {
  const column = listIndexes[source.table]?.[0]?.columns.at(-1) ?? 'id';
  const order = { column, kind: 'time', nullable: false, direction: 'desc' } as const;
  const walk = { source, filter, order, backward: false };
  return { walk, indexUse: indexUseOf(walk) };
}

/**
 * Selects the number of matching rows among those that the step examines, and whether there may be more. If the rows
 * belong to several parents, each parent with matching rows has a row of its own, whose last column is its ordinal.
 */
export function countStepQuery(
  base: QueryBase,
  planned: PlannedWalk,
  step: CountStep,
  parents?: ValueOrSlot<readonly string[]>,
): Query {
  const { examined, conditions } = examinedBy(base, planned, step);
  if (!parents) return countRows(base, examined, conditions, step.rows);
  if (step.read === 'walk') {
    const ofParent = walkedRows(base, planned, step.rows, sql.ref('parent.key'));
    return untyped(base.db)
      .selectFrom(parentKeys(parents))
      .innerJoinLateral(countRows(base, ofParent, conditions, step.rows).as('counted'), (join) =>
        join.onTrue(),
      )
      .select(['counted.count', 'counted.isBound', sql<number>`parent.ordinal`.as('parentOrdinal')]);
  }
  const { parent } = planned.walk.source as ChildSource;
  const key = parentColumn(parent);
  const matching = untyped(base.db)
    .selectFrom(examined.as(row))
    .where(predicateSql(conditions, row, 'eachRow'));
  const ofParents = linkedRows(matching as Query, parent)
    .select([sql`${key}`.as('parentKey'), sql<number>`count(*)::int`.as('count')])
    .where(sql<boolean>`${key} = any(${parents}::uuid[])`)
    .groupBy(sql`${key}`);
  return untyped(base.db)
    .selectFrom(ofParents.as('counted'))
    .innerJoin(parentKeys(parents), (join) =>
      join.on(sql<boolean>`parent.key = ${sql.ref('counted.parentKey')}`),
    )
    .select([
      'counted.count',
      sql<null>`null`.as('isBound'),
      sql<number>`parent.ordinal`.as('parentOrdinal'),
    ]);
}

/** The matching rows among those that the step examines, in a list without parents. */
export function matchingRows(base: QueryBase, planned: PlannedWalk, step: CountStep): Query {
  const { examined, conditions } = examinedBy(base, planned, step);
  return untyped(base.db)
    .selectFrom(examined.as(row))
    .selectAll(row)
    .where(predicateSql(conditions, row, 'eachRow'));
}

/** The rows that a step examines, of any parent, and the conditions that it checks on them. */
function examinedBy(
  base: QueryBase,
  planned: PlannedWalk,
  step: CountStep,
): { examined: Query; conditions: Predicate } {
  const { indexUse, walk } = planned;
  // Rows that are found by a join table are not read from an index of their order, so all conditions are checked.
  if (step.read === 'walk')
    return {
      examined: walkedRows(base, planned, step.rows),
      conditions: indexUse.isJoined ? walk.filter : checkedOf(planned),
    };
  const chosen = candidateOf(indexUse, step);
  return { examined: limitedMatches(base, walk.source, chosen, step.rows), conditions: chosen.rest };
}

/** Counts the rows that satisfy the conditions, and returns whether the step has examined as many rows as it may. */
function countRows({ db }: QueryBase, examined: Query, conditions: Predicate, rows: number): Query {
  return untyped(db)
    .selectFrom(examined.as(row))
    .select([
      sql<number>`(count(*) filter (where ${predicateSql(conditions, row, 'eachRow')}))::int`.as('count'),
      sql<boolean | null>`case when count(*) >= ${sql.lit(rows)} then true end`.as('isBound'),
    ]);
}

function walkedRows(
  base: QueryBase,
  planned: PlannedWalk,
  rows: number,
  parent?: RawBuilder<unknown>,
): Query {
  const { source } = planned.walk;
  if (!parent || !planned.indexUse.isJoined)
    return examinedRows(base, planned, rows, (query) => query.selectAll(row), parent);
  // The rows of the join table are limited without an order, which would require sorting all of them first.
  return childRows(base, source)
    .selectAll(row)
    .where(sql<boolean>`${parentColumn((source as ChildSource).parent)} = ${parent}`)
    .limit(sql.lit(rows));
}
