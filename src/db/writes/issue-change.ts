import { type QueryCreator, sql } from 'kysely';
import { issueColumns, type SettableColumn } from '../../model/issue-columns.ts';
import type { IssueColumns, IssueRow } from '../issues.ts';
import { logPart, columnsWithPrevious, previousValues, type WriteEvent } from './change-log.ts';
import { PreparedSelect, StatementsByForm } from '../query/prepared-select.ts';
import type { StatementTarget } from '../engine/statement-target.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';
import { followUps, type IssueWrite } from './follow-ups.ts';
import { type Preloaded, preloadedColumns, type PreloadableTable, selectRevisionSeen } from './preloaded.ts';
import { inCategories } from './issue-counts.ts';
import {
  requestedPart,
  type RequestedChange,
  requestedValues,
  updateLockedIssues,
  type ChangeKind,
  feedPart,
  isInFeed,
  isLogged,
  type IssueSearch,
  lockedPart,
  newValue,
} from './issue-parts.ts';
import { stageColumns, columnsOfEndedStage } from './issue-stages.ts';
import { areKeyed, isFree, keptKeysByEntry, keyParts, keyValues } from './kept-keys.ts';
import { withParts, partsOf, type WrittenTables } from './write-parts.ts';

/** What the statement of changes depends on. Changes of the same form are written by the same statement. */
export interface IssueChangeForm extends IssueSearch {
  kind: ChangeKind;
  columns: readonly SettableColumn[];
  /** For a change of the status: whether the new one is terminal. */
  closing?: boolean | undefined;
  /** Whether any of them has an Idempotency-Key. */
  keyed?: boolean;
  /** The tables whose rows of the issue are also returned by the statement, because the answer shows them. */
  preloads?: readonly PreloadableTable[];
}

/**
 * The issue after the change; with `preloads`, also its revision when the statement began, and the preloaded values.
 */
export type ChangedIssue = IssueRow & Preloaded & { ordinal: number; revisionSeen?: number | null };

/**
 * Changes issues with everything that follows from it, by one statement. Returns a row for each, in their order;
 * undefined for an issue that does not exist, has another revision, or is locked while the form does not wait.
 */
export async function changeIssues(
  target: StatementTarget,
  form: IssueChangeForm,
  issues: readonly RequestedChange[],
  event?: WriteEvent,
): Promise<(ChangedIssue | undefined)[]> {
  if (issues.length === 0) return [];
  const keyed = areKeyed(issues);
  const keys = keyValues(issues.map(({ key, event: { id = '' } = {} }) => ({ key, entry: id })));
  const values = { ...requestedValues(issues), ...keys, ...event };
  const rows = await statements.send(target, keyed ? { ...form, keyed } : form, values);
  const byOrdinal = new Map(rows.map((row) => [row.ordinal, row]));
  return issues.map((_, index) => byOrdinal.get(index + 1));
}

const statements = new StatementsByForm<IssueChangeForm, ChangedIssue>((db, form) => {
  const columns = [...issueColumns, 'ordinal', ...preloadColumns(form.preloads ?? [])] as const;
  return new PreparedSelect<ChangedIssue>(issueChange(db, form), columns);
});

function issueChange(
  db: TenantDb,
  { columns, closing, kind, keyed = false, preloads = [], ...search }: IssueChangeForm,
) {
  const parts = partsOf(db);
  const write: IssueWrite = { kind, columns };
  const values: IssueColumns = {
    ...Object.fromEntries(columns.map((column) => [column, newValue(column)])),
    ...stageColumns(columns),
  };
  if (closing !== undefined) values.closedUtc = closing ? closedUtcAfter : sql.lit(null);
  const before = [...new Set([...columnsWithPrevious(columns), ...columnsOfEndedStage(columns)])];
  const entry = { id: sql.ref('changed.entry'), actor: sql.ref('changed.actor') };
  const feedEntry = { ...entry, text: sql.ref('changed.text') };
  const logEntry = {
    ...entry,
    request: sql.ref('changed.request'),
    subject: sql`coalesce(${sql.ref('changed.subject')}, ${sql.ref('changed.id')})`,
    at: sql.ref('changed.at'),
    fields: sql`coalesce(${sql.ref('changed.fields')}, '{}'::text[])`,
    previous: previousValues(columns),
  };
  const returned = (from: QueryCreator<WrittenTables>) =>
    from
      .selectFrom('changed')
      .select(issueColumns.map((column) => `changed.${column}` as const))
      .select('changed.ordinal')
      .$if(preloads.length > 0, (query) =>
        query.select(selectRevisionSeen(parts)).select(preloadedColumns(parts, preloads, write)),
      );
  const all = withParts(db, [
    ...(keyed ? keyParts(parts) : []),
    requestedPart(parts, search.named, columns, keyed ? { where: isFree } : undefined),
    lockedPart(parts, search, columns),
    ['changed', updateLockedIssues(parts, kind, values, { before })],
    isInFeed(kind)
      ? feedPart(parts, feedEntry, (selections) => parts.selectFrom('changed').select(selections))
      : undefined,
    isLogged(kind)
      ? logPart(parts, logEntry, (selections) =>
          parts.selectFrom('changed').select(selections).orderBy('changed.ordinal'),
        )
      : undefined,
    ...followUps.flatMap((followUp) => followUp(db, write)),
    ...(keyed ? keptKeysByEntry(parts, returned(parts).select('changed.entry')) : []),
  ]);
  return keyed
    ? all.selectFrom('shown').select([...issueColumns, 'ordinal', ...preloadColumns(preloads)])
    : returned(all);
}

/** The additional columns of a statement with preloads. */
function preloadColumns(preloads: readonly PreloadableTable[]) {
  return preloads.length > 0 ? (['revisionSeen', ...preloads] as const) : [];
}

/** The time at which the issue was closed: a change from one terminal status to another keeps it. */
const closedUtcAfter = sql<Date | null>`case when ${inCategories(
  sql.ref('locked.statusRank'),
  'completed',
  'canceled',
)} then locked.closed_utc else locked.at end`;
