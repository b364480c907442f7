import type { Predicate } from '../../db/query/conditions/predicate.ts';
import type { ChangeRow } from '../../db/reads/change-pages.ts';
import { changeOrigin } from '../../model/codes.ts';
import { type EventType, eventOfTable } from '../../model/events.ts';
import { issueFields } from '../../model/issue-fields.ts';

// Which changes can move an issue into a filtered list or out of it.

/** The columns and tables that a filter of issues reads. */
export interface FilterReads {
  /** The fields whose change may move an issue into or out of the list; undefined if any change may. */
  readonly fields: ReadonlySet<string> | undefined;
  /** The events of the directory after which many issues may have moved at once. */
  readonly directoryEvents: ReadonlySet<EventType>;
  /** Whether it reads other issues, whose changes do not name the issues that they move. */
  readonly otherIssues: boolean;
}

/** The columns of an issue that never change, except with an import. */
const fixedColumns = new Set([
  'id',
  'workspaceId',
  'teamId',
  'number',
  'reporterUserAccountId',
  'createdUtc',
]);

/** The fields whose changes change a column, for columns whose name is not that of a field. */
const fieldsOfColumn: Readonly<Record<string, readonly string[]>> = {
  priorityRank: ['priority'],
  startedUtc: ['statusId'],
  closedUtc: ['statusId'],
  primaryAssigneeUserAccountId: ['primaryAssigneeUserAccountId', 'assigneeUserAccountIds'],
  assigneeUserAccountIds: ['primaryAssigneeUserAccountId', 'assigneeUserAccountIds'],
  ...Object.fromEntries(
    Object.entries(issueFields).flatMap(([name, field]) => [
      ...('folded' in field ? [[field.folded, [name]] as const] : []),
      ...('ranked' in field ? [[field.ranked, [name]] as const] : []),
    ]),
  ),
};

/** Collects the columns and tables that a filter reads. */
export function readsOf(filter: Predicate): FilterReads {
  const reads = { tables: new Set<string>(), linked: new Set<string>() };
  const columns = new Set<string>();
  columnsIn(filter, columns, reads);
  const fields = [...columns].flatMap((column) => {
    if (fixedColumns.has(column)) return [];
    return fieldsOfColumn[column] ?? (Object.hasOwn(issueFields, column) ? [column] : undefined);
  });
  return {
    // Any change may change the times of the last update and the last activity.
    fields: fields.includes(undefined) ? undefined : new Set(fields.filter((field) => field !== undefined)),
    directoryEvents: new Set([
      ...[...reads.tables].flatMap((table) => eventOfTable(table, 'updated') ?? []),
      ...[...reads.linked].flatMap((table) => eventOfTable(table, 'created') ?? []),
    ]),
    otherIssues: reads.tables.has('issue'),
  };
}

/** The tables that a predicate reads at any depth. */
interface TablesRead {
  readonly tables: Set<string>;
  /**
   * Those that join tables connect with rows of the directory. A new row of such a table may come with links to
   * existing rows.
   */
  readonly linked: Set<string>;
}

/**
 * Collects the columns that a predicate reads of its own rows, by default those of the issue, and the tables that it
 * reads.
 */
function columnsIn(predicate: Predicate, columns: Set<string>, reads: TablesRead, isIssue = true): void {
  if ('all' in predicate) for (const part of predicate.all) columnsIn(part, columns, reads, isIssue);
  else if ('any' in predicate) for (const part of predicate.any) columnsIn(part, columns, reads, isIssue);
  else if ('not' in predicate) columnsIn(predicate.not, columns, reads, isIssue);
  else if ('lineage' in predicate) reads.tables.add(predicate.lineage.table);
  else if ('through' in predicate) {
    columns.add(predicate.through.stored ?? predicate.through.table);
    reads.tables.add(predicate.through.target);
    if (!isIssue) reads.linked.add(predicate.through.target);
    columnsIn(predicate.where, new Set(), reads, false);
  } else {
    columns.add(predicate.column);
    if (!('references' in predicate)) return;
    reads.tables.add(predicate.references);
    columnsIn(predicate.where, new Set(), reads, false);
  }
}

type ChangeFacts = Pick<ChangeRow, 'eventType' | 'fields' | 'origin'>;

/** Whether an issue that matches may have entered the list by this change. */
export function mayEnter({ fields }: FilterReads, change: ChangeFacts): boolean {
  if (change.eventType === 'issue.created.v1' || change.eventType === 'issue.restored.v1') return true;
  return mayMove(fields, change);
}

/** Whether an issue that does not match may have left the list by this change. */
export function mayLeave({ fields }: FilterReads, change: ChangeFacts): boolean {
  return change.eventType === 'issue.deleted.v1' || mayMove(fields, change);
}

function mayMove(fields: FilterReads['fields'], { origin, fields: changed }: ChangeFacts): boolean {
  // An import may also change columns that are not fields, such as the reporter.
  return !fields || origin === changeOrigin.import || changed.some((field) => fields.has(field));
}
