import { type AliasableExpression, type Expression, sql } from 'kysely';
import { arrayEntries, linkedKeys, isLinkedToViewer } from '../tables/derived-columns.ts';
import type { IssueWrite } from './follow-ups.ts';
import { deliveryCounters, deliveryCountsAfter } from './issue-counts.ts';
import type { TableName } from '../tables/tables.ts';
import type { Parts } from './write-parts.ts';

const keysVia = (table: TableName, child: string, order: readonly string[] = []) =>
  linkedKeys({ table, parent: 'issueId', child }, 'id', order);

/** The keys of the rows that a join table connects with an issue, by the join table. */
const linkedKeysOf = {
  issueAssignee: keysVia('issueAssignee', 'userAccountId', ['position']),
  issueLabel: keysVia('issueLabel', 'labelId'),
  issueRoleAssignment: keysVia('issueRoleAssignment', 'userAccountId'),
};

const isFollowedBy = (actor: Expression<string>) =>
  isLinkedToViewer('issueSubscription', 'issueId', 'userAccountId', actor);

/** A table whose rows of the issue can be returned by the statement of a write, which saves another statement. */
export type PreloadableTable = keyof typeof linkedKeysOf | 'issueSubscription' | 'deliveryCount';
export const preloadableTables: readonly PreloadableTable[] = [
  'issueAssignee',
  'issueLabel',
  'issueRoleAssignment',
  'issueSubscription',
  'deliveryCount',
];

/**
 * What belongs to an issue after a write, by table, in PostgreSQL's text format: the keys of connected rows as an array,
 * assignees in their order; whether the actor is subscribed, as a boolean; the sums of its delivery's counters, as an
 * array in the order of `deliveryCounters`. A missing table was not preloaded.
 */
export type Preloaded = { readonly [Table in PreloadableTable]?: string };

/** A row that a resolver returned, with preloaded values from other tables. */
export interface WithPreloaded {
  readonly preloaded?: Preloaded | undefined;
}

/** The preloaded sums of a table by the columns of its counters; undefined where nothing is preloaded. */
export function preloadedSums(
  table: TableName,
  array: string | null,
): Readonly<Record<string, number>> | undefined {
  if (array === null || table !== 'deliveryCount') return undefined;
  const sums = arrayEntries(array).map(Number);
  return Object.fromEntries(deliveryCounters.map((counter, index) => [counter, sums[index] ?? 0]));
}

/**
 * The columns that a write returns for `Preloaded`. They contain the state when the statement began, plus what the
 * write itself adds to counts. The actor is that of the write.
 */
export function preloadedColumns(parts: Parts, tables: readonly PreloadableTable[], write: IssueWrite) {
  return tables.map((table) => {
    const column: AliasableExpression<unknown> =
      table === 'deliveryCount'
        ? deliveryCountsAfter(parts, write)
        : (table === 'issueSubscription'
            ? isFollowedBy(sql.ref<string>('changed.actor'))
            : linkedKeysOf[table])('changed');
    return sql<string>`${column}::text`.as(table);
  });
}

/**
 * The revision of a changed issue when the statement began. If the new revision is not the next one, another write
 * came in between.
 */
export function selectRevisionSeen(parts: Parts) {
  return parts
    .selectFrom('issue as seen')
    .select('seen.revision')
    .where('seen.id', '=', sql.ref<string>('changed.id'))
    .as('revisionSeen');
}
