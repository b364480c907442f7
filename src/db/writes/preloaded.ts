import { type AliasableExpression, type Expression, sql } from 'kysely';
import { arrayEntries, joinedKeys, joinsViewer } from '../tables/derived-columns.ts';
import type { IssueWrite } from './follow-ups.ts';
import { deliveryCounters, deliveryCountsAfter } from './issue-counts.ts';
import type { TableName } from '../tables/tables.ts';
import type { Parts } from './write-parts.ts';

const joins = (table: TableName, child: string, order: readonly string[] = []) =>
  joinedKeys({ table, parent: 'issueId', child }, 'id', order);

/** The keys of rows that are joined to an issue, by the table that joins them. */
const joinedTables = {
  issueAssignee: joins('issueAssignee', 'userAccountId', ['position']),
  issueLabel: joins('issueLabel', 'labelId'),
  issueRoleAssignment: joins('issueRoleAssignment', 'userAccountId'),
};

const follows = (actor: Expression<string>) =>
  joinsViewer('issueSubscription', 'issueId', 'userAccountId', actor);

/** A table whose rows of the issue can be returned by the statement of a write, which saves another statement. */
export type PreloadableTable = keyof typeof joinedTables | 'issueSubscription' | 'deliveryCount';
export const preloadableTables: readonly PreloadableTable[] = [
  'issueAssignee',
  'issueLabel',
  'issueRoleAssignment',
  'issueSubscription',
  'deliveryCount',
];

/**
 * What belongs to an issue after a write, by table, in PostgreSQL's text format: the keys of joined rows as an array,
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
        : (table === 'issueSubscription' ? follows(sql.ref<string>('changed.actor')) : joinedTables[table])(
            'changed',
          );
    return sql<string>`${column}::text`.as(table);
  });
}

/**
 * The revision of a changed issue when the statement began. If it is not the one before the new revision, another write
 * came between.
 */
export function selectRevisionSeen(parts: Parts) {
  return parts
    .selectFrom('issue as seen')
    .select('seen.revision')
    .where('seen.id', '=', sql.ref<string>('changed.id'))
    .as('revisionSeen');
}
