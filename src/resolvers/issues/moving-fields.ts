import type { Predicate } from '../../db/query/conditions/predicate.ts';
import type { ChangeRow } from '../../db/reads/change-pages.ts';
import { type EventType, isEventType } from '../../model/events.ts';
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

/** The columns of an issue that never change. */
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
  const columns = new Set<string>();
  const tables = new Set<string>();
  columnsIn(filter, columns, tables);
  const fields = [...columns].flatMap((column) => {
    if (fixedColumns.has(column)) return [];
    return fieldsOfColumn[column] ?? (Object.hasOwn(issueFields, column) ? [column] : undefined);
  });
  return {
    // Times of the last update or activity are moved by any change.
    fields: fields.includes(undefined) ? undefined : new Set(fields.filter((field) => field !== undefined)),
    directoryEvents: new Set([...tables].flatMap(updatesOf)),
    otherIssues: tables.has('issue'),
  };
}

/** The columns of the issue that a predicate reads, and the tables that it reads at any depth. */
function columnsIn(predicate: Predicate, columns: Set<string>, tables: Set<string>): void {
  if ('all' in predicate) for (const part of predicate.all) columnsIn(part, columns, tables);
  else if ('any' in predicate) for (const part of predicate.any) columnsIn(part, columns, tables);
  else if ('not' in predicate) columnsIn(predicate.not, columns, tables);
  else if ('lineage' in predicate) tables.add(predicate.lineage.table);
  else if ('through' in predicate) {
    columns.add(predicate.through.stored ?? predicate.through.table);
    tables.add(predicate.through.target);
    columnsIn(predicate.where, new Set(), tables);
  } else {
    columns.add(predicate.column);
    if (!('references' in predicate)) return;
    tables.add(predicate.references);
    columnsIn(predicate.where, new Set(), tables);
  }
}

function updatesOf(table: string): EventType[] {
  const type = `${table.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.updated.v1`;
  return isEventType(type) ? [type] : [];
}

type ChangeFacts = Pick<ChangeRow, 'eventType' | 'fields'>;

/** Whether an issue that matches may have entered the list by this change. */
export function mayEnter({ fields }: FilterReads, change: ChangeFacts): boolean {
  if (change.eventType === 'issue.created.v1' || change.eventType === 'issue.restored.v1') return true;
  return mayMove(fields, change);
}

/** Whether an issue that does not match may have left the list by this change. */
export function mayLeave({ fields }: FilterReads, change: ChangeFacts): boolean {
  return change.eventType === 'issue.deleted.v1' || mayMove(fields, change);
}

function mayMove(fields: FilterReads['fields'], change: ChangeFacts): boolean {
  return !fields || change.fields.some((field) => fields.has(field));
}
