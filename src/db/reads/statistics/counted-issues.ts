import { type Expression, type Kysely, type SelectQueryBuilder, sql, type SqlBool } from 'kysely';
import { type CountStep, countedWalk, matchingRows } from '../../query/totals/bounded-count.ts';
import type { PlannedWalk } from '../../query/walks/index-use.ts';
import { type AnyTables, untyped, withPart } from '../../query/any-tables.ts';
import { withPrefixRanges } from '../../query/conditions/prefix-range.ts';
import { type Predicate, predicateSql } from '../../query/conditions/predicate.ts';
import { readBounds } from '../../query/read-bounds.ts';
import { tallyKinds } from '../../tables/tallies.ts';
import type { TenantDb } from '../../tables/tenant-tables.ts';
import { countWithinBounds } from '../bounded-totals.ts';
import { totalSender } from '../totals.ts';

// The issues that statistics count one by one: all of a small workspace, or few that a condition of the filter finds,
// so that the statement ends long before it would time out.

/** The issues that match a filter and the condition of all lists of issues (`where`). */
export interface IssueChoice {
  readonly where: Predicate;
  readonly filter: Predicate;
}

/** The table or part from which the issues to count are read. */
export interface CountedIssues {
  /** The handle for the outermost statement, which contains the part. */
  readonly outer: Kysely<AnyTables>;
  readonly table: string;
  readonly condition: Expression<SqlBool>;
}

/** Selects the issues as `r0`, in a statement of `outer` or in a part of one. */
export function selectCountedIssues(handle: Kysely<AnyTables>, { table, condition }: CountedIssues) {
  return handle.selectFrom(`${table} as r0`).where(condition) as SelectQueryBuilder<AnyTables, 'r0', object>;
}

/** All issues that match. */
export function matchingIssues(db: TenantDb, { where, filter }: IssueChoice): CountedIssues {
  return { outer: untyped(db), table: 'issue', condition: predicateSql({ all: [where, filter] }, 'r0') };
}

/**
 * All matching issues of a workspace with at most `maxIssues` issues. In a larger workspace there are none, and none are
 * read.
 */
export function issuesOfSmallWorkspace(db: TenantDb, choice: IssueChoice, maxIssues: number): CountedIssues {
  const issues = matchingIssues(db, choice);
  const isSmall = sql<SqlBool>`(${issues.condition} and ${issueCount(db)} <= ${sql.lit(maxIssues)})`;
  return { ...issues, condition: isSmall };
}

/** Whether the workspace has more issues than this. */
export async function hasMoreIssues(db: TenantDb, maxIssues: number): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`select ${issueCount(db)} as count`.execute(db);
  return Number(rows[0]?.count) > maxIssues;
}

function issueCount(db: TenantDb) {
  return untyped(db)
    .selectFrom('issueTally')
    .select(sql<number>`coalesce(sum(issue_count), 0)`.as('count'))
    .where('kind', '=', sql.lit(tallyKinds.team));
}

/**
 * Finds the matching issues with at most four statements, which read at most `maxIssues` issues; undefined if that does not
 * suffice.
 */
export async function findIssues(
  db: TenantDb,
  { where, filter }: IssueChoice,
  maxIssues: number,
): Promise<CountedIssues | undefined> {
  const planned = countedWalk({ table: 'issue', where }, withPrefixRanges(filter, 'issue'));
  const sender = totalSender(db, planned);
  let found: CountStep | undefined;
  const [total] = await countWithinBounds(planned.indexUse, readBounds(maxIssues), 1, {
    ...sender,
    count: (step, open) => {
      found = step;
      return sender.count(step, open);
    },
  });
  return total?.isExact && found ? issuesOfStep(db, planned, found) : undefined;
}

function issuesOfStep(db: TenantDb, planned: PlannedWalk, step: CountStep): CountedIssues {
  const outer = withPart(db, 'counted', matchingRows({ db }, planned, step));
  return { outer, table: 'counted', condition: sql<SqlBool>`true` };
}
