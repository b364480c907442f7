import { type AliasableExpression, type Expression, sql } from 'kysely';
import { arrayEntries, joinedKeys, joinsViewer } from '../tables/derived-columns.ts';
import type { IssueWrite } from './follow-ups.ts';
import { deliveryCounters, deliveryCountsAfter } from './issue-counts.ts';
import type { TableName } from '../tables/tables.ts';
import type { Parts } from './write-parts.ts';

const joins = (table: TableName, child: string, order: readonly string[] = []) =>
  joinedKeys({ table, parent: 'issueId', child }, 'id', order);

/** How a statement that gives an issue tells what hangs on it, by the tables of that. */
const hanging = {
  issueAssignee: joins('issueAssignee', 'userAccountId', ['position']),
  issueLabel: joins('issueLabel', 'labelId'),
  issueRoleAssignment: joins('issueRoleAssignment', 'userAccountId'),
};

const follows = (actor: Expression<string>) =>
  joinsViewer('issueSubscription', 'issueId', 'userAccountId', actor);

/** A table whose rows hang on an issue, or count its delivery, of which a write can tell in its own statement. */
export type BesideTable = keyof typeof hanging | 'issueSubscription' | 'deliveryCount';
export const besideTables: readonly BesideTable[] = [
  'issueAssignee',
  'issueLabel',
  'issueRoleAssignment',
  'issueSubscription',
  'deliveryCount',
];

/**
 * What hangs on an issue as a write left it, as texts of PostgreSQL: who is joined to it, as an array, assignees in
 * their order; does the actor follow it, as a boolean; what its delivery counts, as an array. Of what is
 * not among them nothing is known.
 */
export type Beside = { readonly [Table in BesideTable]?: string };

/** An issue as a write left it, with what its statement knew beside it. */
export interface WithBeside {
  readonly beside?: Beside | undefined;
}

/** The sums of counters in the array of a table, by the columns of the counters; undefined where nothing is known. */
export function sumsIn(table: TableName, array: string | null): Readonly<Record<string, number>> | undefined {
  if (array === null || table !== 'deliveryCount') return undefined;
  const sums = arrayEntries(array).map(Number);
  return Object.fromEntries(deliveryCounters.map((counter, place) => [counter, sums[place] ?? 0]));
}

/**
 * The same as columns. They say what was true when the statement began, but for what the write itself counts. The actor
 * is that of the write.
 */
export function besideColumns(parts: Parts, tables: readonly BesideTable[], write: IssueWrite) {
  const actor = parts
    .selectFrom('asked')
    .select('asked.actor')
    .where('asked.place', '=', sql.ref<number>('changed.place'));
  return tables.map((table) => {
    const told: AliasableExpression<unknown> =
      table === 'deliveryCount'
        ? deliveryCountsAfter(parts, write)
        : (table === 'issueSubscription' ? follows(sql<string>`(${actor})`) : hanging[table])('changed');
    return sql<string>`${told}::text`.as(table);
  });
}

/** The revision of a changed issue at that moment: if others changed it before the lock, it is not the one before. */
export function revisionSeen(parts: Parts) {
  return parts
    .selectFrom('issue as seen')
    .select('seen.revision')
    .where('seen.id', '=', sql.ref<string>('changed.id'))
    .as('revisionSeen');
}
