import type { Predicate } from '../../db/query/conditions/predicate.ts';
import type { ChangeRow } from '../../db/reads/change-pages.ts';
import { selectMatchingIds } from '../../db/reads/matching-ids.ts';
import { isEventType } from '../../model/events.ts';
import { maxStreamedChanges } from '../changes/change-events.ts';
import { changeCursor, type ChangePage, readableBy, readableTypes, readLog } from '../changes/changes.ts';
import type { PageTest } from '../../reference/page-test.ts';
import { type Context, requireSignedIn } from '../context.ts';
import { Violations } from '../errors.ts';
import { type FilterFields, filterPredicate } from '../filters.ts';
import { conditionsOf, matchingIn } from './issues-in-memory.ts';
import { type FilterReads, mayEnter, mayLeave, readsOf } from './moving-fields.ts';

/** The effect on a list of the changes of one issue that are reported together. */
export interface IssueEvent {
  kind: 'ENTERED' | 'CHANGED' | 'LEFT';
  issueId: string;
  cursor: string;
  changes: ChangeRow[];
}

interface IssueEventPage {
  events: { event: IssueEvent; cursor: string; identity: string }[];
  cursor: string;
  hasMore: boolean;
  isReset?: true;
}

const notDeleted: Predicate = { column: 'deletedUtc', isNull: true };

/**
 * Reads what happened to a filtered list after a cursor. It is unknown which issues were in the list before: an issue
 * that matches now counts as entered if a change may have moved it, and one that does not match counts as left if a
 * change may have moved it. Throws `cursor_expired`, and `validation_failed` for a filter that reads other issues.
 */
export async function readIssueEvents(
  ctx: Context,
  filterFields: () => FilterFields,
  { after, filter }: { after: string; filter?: Record<string, unknown> | null | undefined },
): Promise<IssueEventPage> {
  const { reads, conditions } = parseList(filterFields, filter);
  const issueChanges: Predicate = {
    all: [readableBy(requireSignedIn(ctx).principal), { column: 'issueId', isNull: false }],
  };
  const directoryChanges: Predicate = { column: 'eventType', in: [...reads.directoryEvents] };
  const page = await readLog(ctx, after, { any: [issueChanges, directoryChanges] }, maxStreamedChanges);
  const { nodes, cursor, hasMore } = page;
  if (isReset(reads, nodes)) return { events: [], cursor, hasMore, isReset: true };
  const byIssue = Map.groupBy(nodes, ({ issueId }) => issueId ?? '');
  const matches = await matchingOf(ctx, conditions, [...byIssue.keys()], page.issues);
  const events = [...byIssue].flatMap(([issueId, changes]) => {
    const kind = kindOf(reads, matches.has(issueId), changes);
    return kind ? [{ kind, issueId, changes }] : [];
  });
  return { events: withCursors(events, { after, cursor, nodes }), cursor, hasMore };
}

/** The test of pages for a filter that has been validated already. */
export function issuePageTest(
  ctx: Context,
  filterFields: () => FilterFields,
  filter: Record<string, unknown> | null | undefined,
): PageTest {
  const { reads, conditions } = parseList(filterFields, filter);
  const readable: ReadonlySet<string> = new Set(readableTypes(requireSignedIn(ctx).principal));
  return {
    readsIssues: true,
    mayConcern: (changes, issues) => {
      if (isReset(reads, changes)) return true;
      const matches = issues && matchingIn(issues, conditions);
      if (!matches) return true;
      return changes.some(
        (change) =>
          change.issueId !== null &&
          readable.has(change.eventType) &&
          (matches.has(change.issueId) || mayLeave(reads, change)),
      );
    },
  };
}

/** A filtered list: the columns and tables that its filter reads, and the conditions for an issue to be in it. */
function parseList(
  filterFields: () => FilterFields,
  filter: Record<string, unknown> | null | undefined,
): { reads: FilterReads; conditions: readonly Predicate[] } {
  const violations = new Violations();
  const matching = filterPredicate(filterFields(), filter ?? {}, violations);
  violations.throwIfAny('invalid_request');
  const reads = readsOf(matching);
  violations.addUnless(
    !reads.otherIssues,
    'filter.parent',
    'cannot be used in a subscription; filter by parentIssueId instead',
  );
  violations.throwIfAny();
  return { reads, conditions: conditionsOf({ all: [notDeleted, matching] }) };
}

/** Whether a change of the directory may have moved issues into or out of the list without a change of their own. */
function isReset({ directoryEvents }: FilterReads, changes: readonly ChangeRow[]): boolean {
  return (
    directoryEvents.size > 0 &&
    changes.some(({ eventType }) => isEventType(eventType) && directoryEvents.has(eventType))
  );
}

/**
 * The ids of those issues that match now, found in memory if the page is shared and the filter can be evaluated there.
 */
async function matchingOf(
  ctx: Context,
  conditions: readonly Predicate[],
  issueIds: readonly string[],
  issues: ChangePage['issues'],
): Promise<ReadonlySet<string>> {
  const idsInMemory = issueIds.length > 0 && issues && matchingIn(await issues(), conditions);
  return idsInMemory || selectMatchingIds(requireSignedIn(ctx).db, 'issue', { all: conditions }, issueIds);
}

function kindOf(
  reads: FilterReads,
  matches: boolean,
  changes: readonly ChangeRow[],
): IssueEvent['kind'] | undefined {
  if (matches) return changes.some((change) => mayEnter(reads, change)) ? 'ENTERED' : 'CHANGED';
  return changes.some((change) => mayLeave(reads, change)) ? 'LEFT' : undefined;
}

/**
 * The events in the order of their last changes. A client that continues from the cursor of an event receives all later
 * events again as a whole, so the cursor comes before the first change of each of those.
 */
function withCursors(
  events: readonly Omit<IssueEvent, 'cursor'>[],
  { after, cursor: end, nodes }: { after: string; cursor: string; nodes: readonly ChangeRow[] },
): IssueEventPage['events'] {
  const ordered = events.toSorted((a, b) => lastOf(a) - lastOf(b));
  let next = Infinity;
  const newestFirst = ordered.toReversed().map((event, index) => {
    const before = nodes.findLast(({ position }) => position < next);
    const cursor = index === 0 ? end : before ? changeCursor(before) : after;
    next = Math.min(next, event.changes[0]?.position ?? next);
    const positions = event.changes.map(({ position }) => position);
    return {
      event: { ...event, cursor },
      cursor,
      identity: [event.kind, event.issueId, ...positions, cursor].join(' '),
    };
  });
  return newestFirst.toReversed();
}

function lastOf({ changes }: Pick<IssueEvent, 'changes'>): number {
  return changes.at(-1)?.position ?? 0;
}
