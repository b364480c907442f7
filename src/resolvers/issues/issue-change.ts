import { type BesideTable, countedDelivery, type WithBeside } from '../../db/writes/issue-beside.ts';
import {
  type AskedChange,
  changeValues,
  type IssueChanged,
  issueChanges,
  type IssueChangeShape,
} from '../../db/writes/issue-change.ts';
import type { IssueRow } from '../../db/issues.ts';
import { type ChangeableColumn, following } from '../../model/issue-columns.ts';
import { type IssueField, issueFields } from '../../model/issue-fields.ts';
import type { Sending } from '../../db/query/prepared.ts';
import { inOne } from '../../db/engine/transaction.ts';
import { issueNames } from '../../db/writes/write-parts.ts';
import { feedEntry } from '../activity.ts';
import type { Snapshot } from '../../reference/snapshot.ts';
import type { Principal, SignedIn } from '../context.ts';
import { countedCategories, isTerminal } from './issue-counts.ts';
import { deedOf } from './activity-text.ts';
import { changedColumns } from './issue-columns.ts';
import type { IssueChange, IssueFieldsInput } from './issue-input.ts';
import { requireName, requireNamed } from './issue-names.ts';
import type { References } from './issue-references.ts';
import type { ExpectedRevision } from '../writes/revisions.ts';

/** Does a change set nothing but columns of the issue: what else there is must be read again under its lock. */
export function standsAlone(input: IssueFieldsInput): boolean {
  return relatedFields.every((name) => input[name] === undefined);
}

const relatedFields = Object.keys(issueFields)
  .map((name) => name as IssueField)
  .filter((name) => !Object.hasOwn(following, name));

/** An issue as its change finds it, once its team is known: its id, or its number in the team. */
type PlacedIssue = { teamId: string } & ({ id: string } | { number: number });

/** The issue that a key or an id names, which may not be there; by memory where that has the team of its key. */
export async function placed(
  { db, connect }: SignedIn,
  cached: Snapshot | undefined,
  keyOrId: string,
): Promise<PlacedIssue> {
  const name = requireName(keyOrId);
  const teams = cached?.table('team');
  const [team] = teams && 'number' in name ? teams.by('code', name.teamCode) : [];
  const teamId = team?.[teams?.place('id') ?? -1];
  if (teamId && 'number' in name) return { teamId, number: name.number };
  return requireNamed({ db, connect }, keyOrId);
}

/** A change that breaks no rule, and the issue that it is for. */
interface CheckedChange {
  issue: PlacedIssue;
  change: IssueChange;
  references: References;
  expectedRevision: ExpectedRevision;
  principal: Principal;
  shows: readonly BesideTable[];
}

/** The same in the form that its statement takes. */
interface FormedChange extends CheckedChange {
  shape: IssueChangeShape;
  set: AskedChange['set'];
  /** What the feed says of it. */
  text: string;
}

/**
 * May a change be one of several in a transaction. Those that are to move counts may not: deliveries are locked before
 * projects, which holds for one of them and not for one after the other. To open a closed issue comes but once.
 */
export function goesWithOthers({ change, references }: CheckedChange): boolean {
  const { statusId, deliveryId, projectId, estimateValue } = change;
  const status = statusId && references.find('status', statusId);
  const moves = [deliveryId, projectId, estimateValue].some((value) => value !== undefined);
  return !moves && !(status && isTerminal(status.code));
}

/** Makes changes, those of one issue in their order: all of them or none. */
export async function sendChanges(
  sending: Sending,
  groups: readonly (readonly FormedChange[])[],
): Promise<(IssueChanged | undefined)[][]> {
  const [first = []] = groups;
  if (groups.length > 1) return changedTogether(sending, groups.flat());
  const all = async (to: Sending) => {
    const sent = await Promise.all(first.map((change) => sendChange(to, change)));
    return [sent.map(([row]) => row)];
  };
  return first.length > 1 ? inOne(sending, all) : all(sending);
}

/**
 * In whose company a change goes: that of others of the same form, each of another issue; one that is meant for one
 * revision alone, or several of an issue, in nobody's.
 */
export function companyOf(changes: readonly FormedChange[]): string | undefined {
  const [change] = changes;
  if (!change || changes.length > 1 || change.expectedRevision != null) return undefined;
  return `${change.principal.workspaceId} ${JSON.stringify(change.shape)}`;
}

/** Changes issues, all in one form; where a key has come to name the same issue as another, the first of them alone. */
async function changedTogether(
  sending: Sending,
  changes: readonly FormedChange[],
): Promise<(IssueChanged | undefined)[][]> {
  const names = changes.map(({ issue }) => JSON.stringify(issue));
  const firsts = changes.filter((_, index) => names.indexOf(names[index] ?? '') === index);
  const [first] = firsts;
  if (!first) return [];
  const asked = firsts.map(({ principal, text, set }) => {
    const { activityId: entry, actor } = feedEntry(principal, 'issue.updated.v1');
    return { entry, actor, text, set };
  });
  const rows = await issueChanges.send(
    sending,
    { ...first.shape, several: true },
    {
      ...changeValues(asked),
      ...issueNames(firsts.map(({ issue }) => issue)),
      ...countedCategories,
      ...feedEntry(first.principal, 'issue.updated.v1'),
    },
  );
  const byPlace = new Map(rows.map((row) => [row.place, row]));
  return changes.map((change) => [byPlace.get(firsts.indexOf(change) + 1)]);
}

/** Makes a change that stands alone; no row when the issue is gone, or at another revision. */
function sendChange(
  sending: Sending,
  { principal, issue, expectedRevision, shape, set, text }: FormedChange,
): Promise<IssueChanged[]> {
  return issueChanges.send(sending, shape, {
    ...set,
    ...countedCategories,
    ...feedEntry(principal, 'issue.updated.v1'),
    text,
    ...issue,
    expectedRevision,
  });
}

/** Brings a change into the form that its statement takes. */
export function formed(checked: CheckedChange): FormedChange {
  const { principal, change, references, issue, expectedRevision, shows } = checked;
  const status = change.statusId === undefined ? undefined : references.find('status', change.statusId);
  const set = changedColumns(change, status?.code);
  return {
    ...checked,
    set,
    shape: {
      columns: Object.keys(set) as ChangeableColumn[],
      closing: status && isTerminal(status.code),
      revision: expectedRevision != null,
      named: 'id' in issue ? 'id' : 'number',
      beside: shows,
      several: false,
    },
    text: `${principal.displayName} ${deedOf(change, references)}`,
  };
}

/** The issue with what its statement told of besides, unless others changed it while the statement waited for them. */
export function asChanged(row: IssueChanged, shows: readonly BesideTable[]): IssueRow & WithBeside {
  if (row.revisionSeen !== row.revision - 1) return row;
  const beside = Object.fromEntries(shows.map((table) => [table, row[table]]));
  return Object.assign(row, { beside, counted: countedDelivery(row, beside) });
}
