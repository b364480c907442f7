import type { PreloadableTable, WithPreloaded } from '../../db/writes/preloaded.ts';
import { changeIssues, type ChangedIssue, type IssueChangeForm } from '../../db/writes/issue-change.ts';
import { mayChangeCounts } from '../../db/writes/issue-counts.ts';
import type { KeyedItem } from '../../db/writes/kept-keys.ts';
import type { RequestedChange, LogEntry } from '../../db/writes/issue-parts.ts';
import type { IssueRow } from '../../db/issues.ts';
import { derivedColumns, type SettableColumn } from '../../model/issue-columns.ts';
import { type IssueField, issueFields } from '../../model/issue-fields.ts';
import type { StatementTarget } from '../../db/engine/statement-target.ts';
import { inOneTransaction } from '../../db/engine/transaction.ts';
import { writeEvent } from '../activity.ts';
import type { Snapshot } from '../../reference/snapshot.ts';
import type { Principal, SignedIn } from '../context.ts';
import { newUuid } from '../ids.ts';
import { isTerminal } from './status-rank.ts';
import { activityTextOf } from './activity-text.ts';
import { changedColumns } from './issue-columns.ts';
import type { IssueChange, IssueFieldsInput } from './issue-input.ts';
import { requireName, requireIssueFrom } from './issue-names.ts';
import type { References } from './issue-references.ts';
import type { ExpectedRevision } from '../writes/revisions.ts';

/**
 * Whether a change sets stored fields only. Other changes depend on rows that must be read under the lock of the issue.
 */
export function setsStoredFieldsOnly(input: IssueFieldsInput): boolean {
  return relatedFields.every((name) => input[name] === undefined);
}

const fieldNames = Object.keys(issueFields) as IssueField[];
const relatedFields = fieldNames.filter((name) => !Object.hasOwn(derivedColumns, name));

/** An issue by its id, or by its number in a team. */
type LocatedIssue = { teamId: string } & ({ id: string } | { number: number });

/**
 * The issue that a key or an id names, which may not exist. No statement is needed if the team of the key is cached.
 */
export async function locateIssue(
  { db, connect }: SignedIn,
  cached: Snapshot | undefined,
  keyOrId: string,
): Promise<LocatedIssue> {
  const name = requireName(keyOrId);
  const teams = cached?.table('team');
  const [team] = teams && 'number' in name ? teams.by('code', name.teamCode) : [];
  const teamId = team?.[teams?.columnIndex('id') ?? -1];
  if (teamId && 'number' in name) return { teamId, number: name.number };
  return requireIssueFrom({ db, connect }, keyOrId);
}

/** A change that breaks no rule, and the issue that it is for. */
interface CheckedChange {
  issue: LocatedIssue;
  change: IssueChange;
  references: References;
  expectedRevision: ExpectedRevision;
  principal: Principal;
  requestId: string;
  preloads: readonly PreloadableTable[];
}

/** A change for the batcher: the form of its statement, and the requested change with its values. */
interface IssueChangeItem extends KeyedItem {
  form: Omit<IssueChangeForm, 'wait'>;
  requested: RequestedChange;
}

/** Makes changes of one form, all of them or none. Changes of the same issue follow each other, in one transaction. */
export async function sendChanges(
  target: StatementTarget,
  changes: readonly IssueChangeItem[],
  wait: boolean,
): Promise<(ChangedIssue | undefined)[]> {
  const [first] = changes;
  if (!first) return [];
  const form = { ...first.form, wait };
  const event = writeEvent('issue.updated.v1');
  const passes = inPasses(changes);
  const rows = new Map<IssueChangeItem, ChangedIssue | undefined>();
  // A connection executes statements in the order in which they are sent. All are sent at once, so that many changes of
  // one issue cost no more round trips than one.
  const sendPasses = (to: StatementTarget) =>
    Promise.all(
      passes.map(async (pass) => {
        const changed = await changeIssues(
          to,
          form,
          pass.map(({ requested, key }) => ({ ...requested, key })),
          event,
        );
        pass.forEach((change, index) => rows.set(change, changed[index]));
      }),
    );
  await (passes.length > 1 ? inOneTransaction(target, sendPasses) : sendPasses(target));
  return changes.map((change) => rows.get(change));
}

/**
 * Divides changes into passes with at most one change of each issue. Executed one after the other, they preserve the
 * order of each issue's changes.
 */
function inPasses(changes: readonly IssueChangeItem[]): IssueChangeItem[][] {
  const passes: IssueChangeItem[][] = [];
  const counts = new Map<string, number>();
  for (const change of changes) {
    const name = JSON.stringify(change.requested.issue);
    const pass = counts.get(name) ?? 0;
    counts.set(name, pass + 1);
    (passes[pass] ??= []).push(change);
  }
  return passes;
}

/**
 * Changes with the same key can share a statement. A change that may affect counts is sent alone: counts of deliveries are
 * locked before those of projects, which holds for one statement and not for several in a transaction. A change to a status
 * that is not terminal need not be sent alone, although it may reopen its issue: of several such changes of one issue only the
 * first affects counts, and the first changes of all issues are one statement.
 */
export function batchKey(
  { principal }: Pick<CheckedChange, 'principal'>,
  { form }: IssueChangeItem,
): string | undefined {
  const others = form.columns.filter((column) => column !== 'statusId');
  if (form.closing || mayChangeCounts(others)) return undefined;
  return `change ${principal.workspaceId} ${JSON.stringify(form)}`;
}

/** Splits a change of stored fields into the form of its statement and the values. */
export function formAndValues(
  { principal, requestId, change, references, issue, expectedRevision, preloads }: CheckedChange,
  additional: Pick<RequestedChange, 'set'> & Pick<LogEntry, 'previous'> = {},
): IssueChangeItem {
  const status = change.statusId === undefined ? undefined : references.find('status', change.statusId);
  const set = { ...changedColumns(change, status?.rank), ...additional.set };
  const name = 'id' in issue ? { id: issue.id } : { teamId: issue.teamId, number: issue.number };
  return {
    form: {
      kind: 'update',
      named: 'id' in issue ? 'id' : 'number',
      columns: Object.keys(set) as SettableColumn[],
      closing: status && isTerminal(status.rank),
      preloads,
    },
    requested: {
      issue: name,
      expectedRevision,
      set,
      event: {
        id: newUuid(),
        actor: principal.userAccountId,
        request: requestId,
        text: `${principal.displayName} ${activityTextOf(change, references)}`,
        fields: fieldNames.filter((name) => change[name] !== undefined || Object.hasOwn(set, name)),
        previous: additional.previous,
      },
    },
  };
}

/**
 * The issue with its preloaded related rows, unless another transaction changed it while the statement waited for its
 * lock.
 */
export function withPreloaded(
  row: ChangedIssue,
  preloads: readonly PreloadableTable[],
): IssueRow & WithPreloaded {
  if (row.revisionSeen !== row.revision - 1) return row;
  const preloaded = Object.fromEntries(preloads.map((table) => [table, row[table]]));
  return Object.assign(row, { preloaded });
}
