import type { Database } from '../../db/engine/engine.ts';
import type { Predicate } from '../../db/query/conditions/predicate.ts';
import { filterableTables, selectFilterableIssues } from '../../db/reads/filterable-issues.ts';
import { noVersion } from '../../db/reads/reference-reads.ts';
import { CachedTable } from '../../reference/cached-table.ts';
import { testOf } from '../../reference/conditions.ts';
import { Snapshot } from '../../reference/snapshot.ts';
import type { CachedReference } from '../context.ts';

// Evaluates filters on issues in memory, so that streams with many different filters share one read of the changed issues.

/**
 * The current rows of the issues, with reference data that is read after them, so that an issue cannot refer to
 * reference data that the snapshot does not have yet.
 */
export async function issuesInMemory(
  {
    connect,
    reference,
  }: { connect: Database['connect']; reference: Pick<CachedReference, 'renewed'> | undefined },
  workspaceId: string,
  issueIds: readonly string[],
): Promise<Snapshot> {
  const connection = await connect();
  const read = await selectFilterableIssues(connection, workspaceId, issueIds).finally(() =>
    connection.release(),
  );
  const tables = Array.from(read, ([name, { rows, types }]): [string, CachedTable] => [
    name,
    new CachedTable(filterableTables[name], rows, types),
  ]);
  const referenceData = (await reference?.renewed()) ?? new Snapshot(noVersion);
  return referenceData.with(new Map(tables));
}

/**
 * The conditions that must all hold: those on a column first, because those on related rows take longer to evaluate.
 */
export function conditionsOf(predicate: Predicate): Predicate[] {
  const parts = 'all' in predicate ? predicate.all.flatMap(conditionsOf) : [predicate];
  const isOfColumn = (part: Predicate) => 'column' in part && !('references' in part);
  return [...parts.filter(isOfColumn), ...parts.filter((part) => !isOfColumn(part))];
}

/** The ids of those issues for which all conditions hold; undefined if only SQL can evaluate one of the conditions. */
export function matchingIn(
  issues: Snapshot,
  conditions: readonly Predicate[],
): ReadonlySet<string> | undefined {
  const table = issues.table('issue');
  if (!table) return undefined;
  let { rows } = table;
  for (const condition of conditions) {
    if (rows.length === 0) break;
    const test = testOf(condition, table, issues);
    if (!test) return undefined;
    rows = rows.filter(test);
  }
  const id = table.columnIndex('id');
  return new Set(rows.map((row) => row[id] ?? ''));
}
