import {
  type ChangePageRead,
  type ChangeRow,
  type LogPoint,
  selectChangePage,
  selectLogHead,
} from '../../db/reads/change-pages.ts';
import { type ChangeTest, changeTest } from './change-filter.ts';
import { always, type Predicate } from '../../db/query/conditions/predicate.ts';
import type { Snapshot } from '../../reference/snapshot.ts';
import { events, type EventType, eventTypes } from '../../model/events.ts';
import { maxInt32 } from '../../model/int32.ts';
import { type IssueField, issueFields } from '../../model/issue-fields.ts';
import { limits } from '../../model/limits.ts';
import { wholeNumberRule } from '../../model/sentences.ts';
import { isManager } from '../access/managers.ts';
import { type Context, type Principal, requireSignedIn } from '../context.ts';
import { raise, Violations } from '../errors.ts';
import { type FilterFields, filterPredicate } from '../filters.ts';
import { encodeId, type IdPrefix, isUuid } from '../ids.ts';

/** The maximum and the default number of changes that one read returns. */
export const maxChanges = limits.changesPerRead;
export const defaultChanges = 50;

/** The maximum number of changes that one read examines, whether they match or not. */
export const maxScannedChanges = 5_000;

/** The maximum number of changes on a page that several readers share. */
export const maxSharedChanges = 500;

/** Pages of the log that several streams of a workspace share. */
export interface LogPages {
  /**
   * The page after a position, with all changes (at most one more than `maxSharedChanges`); undefined if the position is
   * far from the end of the log.
   */
  readonly after: (from: LogPoint) => Promise<SharedPage> | undefined;
}

export interface SharedPage extends ChangePageRead {
  /**
   * The issues that the changes of the page are about, read after the page, with reference data that is at least as
   * new. Filters of issues are evaluated on them in memory.
   */
  readonly issues: () => Promise<Snapshot>;
}

/** The cursor after a change, which is the same for every transport. */
export function changeCursor({ position, tag }: LogPoint): string {
  return `c1-${position}-${tag.toString(36)}`;
}

export function parseCursor(cursor: string): LogPoint | undefined {
  const [, position, tag = ''] = /^c1-(\d{1,15})-([\da-z]{1,10})$/.exec(cursor) ?? [];
  return position === undefined ? undefined : { position: Number(position), tag: Number.parseInt(tag, 36) };
}

/** How many changes come after a position, up to the newest one. */
export function countChangesAfter(position: number, newestCursor: string | undefined): number {
  const newest = newestCursor === undefined ? undefined : parseCursor(newestCursor);
  return Math.min(Math.max((newest?.position ?? position) - position, 0), maxInt32);
}

/**
 * Reads the cursor of the newest change before anything else that the operation reads: with a cursor that is newer than
 * the rest of the answer, a client would miss the changes in between. For the same reason, reference data is renewed
 * after it.
 */
export async function readNewestCursor(ctx: Context): Promise<Pick<Context, 'changeCursor' | 'reference'>> {
  const { db, reference } = requireSignedIn(ctx);
  const newest = changeCursor(await selectLogHead(db));
  if (!reference) return { changeCursor: newest };
  const renewed = reference.renewed();
  // Prevents an unhandled rejection. Callers of `current` await the promise, and so get its error.
  renewed.catch(() => undefined);
  return { changeCursor: newest, reference: { ...reference, current: () => renewed } };
}

/** A page of the log. */
export interface ChangePage {
  nodes: ChangeRow[];
  /** The cursor from which to continue, which is set even if no change matches. */
  cursor: string;
  /** Whether the log continues after the cursor, with or without changes that match. */
  hasMore: boolean;
  /** The issues of a page that several readers share. */
  issues?: SharedPage['issues'];
}

export interface ChangesRequest {
  after?: string | null;
  first?: number | null;
  filter?: Record<string, unknown> | null;
  waitSeconds?: number | null;
}

/**
 * Reads changes after a cursor, oldest first: every transport reads the log here. With `waitSeconds`, it waits until
 * there are some. Throws `cursor_expired` if changes after the cursor may be missing.
 */
export async function readChanges(
  ctx: Context,
  filterFields: () => FilterFields,
  { after, first, filter, waitSeconds }: ChangesRequest,
): Promise<ChangePage> {
  const { principal } = requireSignedIn(ctx);
  const violations = new Violations();
  const start = after ? parseCursor(after) : undefined;
  violations.addUnless(!after || start !== undefined, 'after', 'is not a cursor of changes');
  const limit = first ?? defaultChanges;
  violations.addUnless(limit >= 1 && limit <= maxChanges, 'first', wholeNumberRule(1, maxChanges));
  const seconds = waitSeconds ?? 0;
  const maxSeconds = limits.changesWaitSeconds;
  violations.addUnless(seconds >= 0 && seconds <= maxSeconds, 'waitSeconds', wholeNumberRule(0, maxSeconds));
  const matching = filter ? filterPredicate(filterFields(), filter, violations) : always;
  violations.throwIfAny('invalid_request');
  const read = (from: LogPoint | undefined, reader: Principal) =>
    readPage(ctx, from, { all: [readableBy(reader), matching] }, limit);
  if (seconds === 0 || !ctx.changes) return read(start, principal);
  return ctx.changes.waiting(seconds * 1_000, async (wait) => {
    let page = await read(start, principal);
    while (page.nodes.length === 0) {
      const reader = page.hasMore ? principal : await wait();
      if (!reader) break;
      page = await read(parseCursor(page.cursor), reader);
    }
    return page;
  });
}

/**
 * Reads the changes after a cursor that match, regardless of the token's scopes. Throws the same errors as
 * `readChanges`.
 */
export async function readLog(
  ctx: Context,
  after: string,
  where: Predicate,
  limit: number,
): Promise<ChangePage> {
  const violations = new Violations();
  const start = parseCursor(after);
  violations.addUnless(start !== undefined, 'after', 'is not a cursor of changes');
  violations.throwIfAny('invalid_request');
  return readPage(ctx, start, where, limit);
}

async function readPage(
  ctx: Context,
  from: LogPoint | undefined,
  where: Predicate,
  limit: number,
): Promise<ChangePage> {
  const test = from && ctx.logPages && changeTest(where);
  const shared = test && ctx.logPages?.after(from);
  if (shared) return pageOf(from, await shared, test, limit);
  const { head, tag, until, rows } = await selectChangePage(requireSignedIn(ctx).db, {
    after: from?.position ?? null,
    where,
    limit: limit + 1,
    scan: maxScannedChanges,
  });
  if (from) requireAvailable(from, head, tag);
  const nodes = rows.slice(0, limit);
  const isFull = rows.length > limit;
  const end = (isFull ? nodes.at(-1) : until) ?? head;
  return { nodes, cursor: changeCursor(end), hasMore: isFull || end.position < head.position };
}

/** The changes of a shared page that match. */
function pageOf(
  from: LogPoint,
  { head, tag, until, rows, issues }: SharedPage,
  test: ChangeTest,
  limit: number,
): ChangePage {
  requireAvailable(from, head, tag);
  const read = rows.slice(0, maxSharedChanges);
  const matching = read.filter(test);
  const nodes = matching.slice(0, limit);
  const isFull = matching.length > limit;
  const end = (isFull ? nodes.at(-1) : rows.length > maxSharedChanges ? read.at(-1) : until) ?? head;
  return { nodes, cursor: changeCursor(end), hasMore: end.position < head.position, issues };
}

/**
 * The cursor after a shared page that reaches the end of the log; undefined if it does not, or if earlier changes are
 * missing.
 */
export function cursorAfter(from: LogPoint, { head, tag, until, rows }: SharedPage): string | undefined {
  const end = until ?? head;
  if (!isAvailable(from, head, tag) || rows.length > maxSharedChanges || end.position < head.position)
    return undefined;
  return changeCursor(end);
}

/**
 * Whether the log still has all changes after the cursor, and the cursor belongs to this log. `tag` is that of the
 * change at the cursor's position.
 */
function isAvailable(
  from: LogPoint,
  { position, oldest }: { position: number; oldest: number },
  tag: number | null,
): boolean {
  const isBeginning = from.position === 0 && from.tag === 0;
  const isOfThisLog = isBeginning ? oldest === 1 : tag === from.tag;
  return isOfThisLog && from.position <= position && from.position >= oldest - 1;
}

/** Throws `cursor_expired` unless the log goes back to the cursor. */
function requireAvailable(...args: Parameters<typeof isAvailable>): void {
  if (isAvailable(...args)) return;
  raise(
    'cursor_expired',
    'The log does not have all changes after this cursor. Read the lists again, and continue from a new cursor.',
  );
}

/** The events that a token may read. Those about webhooks are for managers alone, as webhooks are. */
export function readableTypes(principal: Pick<Principal, 'scopes' | 'role'>): EventType[] {
  return eventTypes.filter((type) => {
    const { scope } = events[type];
    if (scope === 'workspace:admin' && !isManager(principal)) return false;
    return scope === 'token' || principal.scopes.has(scope);
  });
}

/** The changes that a token may read. */
export function readableBy(principal: Pick<Principal, 'scopes' | 'role'>): Predicate {
  return { column: 'eventType', in: readableTypes(principal) };
}

/** The TypeID of the object that a change is about. */
export function subjectIdOf({ eventType, subjectId }: Pick<ChangeRow, 'eventType' | 'subjectId'>): string {
  return encodeId(events[eventType as EventType].subject, subjectId);
}

export interface PreviousValue {
  field: string;
  value: string | null;
}

/** The values that a change replaced, as texts: ids as in the API, codes as their numbers, lists as JSON. */
export function previousValuesOf({
  fields,
  previous,
  eventType,
}: Pick<ChangeRow, 'fields' | 'previous' | 'eventType'>): PreviousValue[] {
  const values = previous ?? {};
  return fields
    .filter((field) => Object.hasOwn(values, field))
    .map((field) => ({ field, value: textOf(values[field], prefixOf(field, eventType)) }));
}

function textOf(value: unknown, prefix: IdPrefix | undefined): string | null {
  if (value === null || value === undefined) return null;
  const publicValue = (item: unknown) => (prefix && isUuid(item) ? encodeId(prefix, item) : item);
  if (Array.isArray(value)) return JSON.stringify(value.map(publicValue));
  const single = publicValue(value);
  return typeof single === 'string' ? single : JSON.stringify(single);
}

/** The prefix of the ids that are the values of a field. */
function prefixOf(field: string, eventType: string): IdPrefix | undefined {
  if (field === 'statusId') return eventType.startsWith('project') ? 'pstatus' : 'status';
  const declared: object | undefined = issueFields[field as IssueField];
  return declared && 'of' in declared ? (declared.of as IdPrefix) : otherFields[field];
}

const otherFields: Readonly<Record<string, IdPrefix>> = {
  primaryAssigneeUserAccountId: 'user',
  leadUserAccountId: 'user',
  parentIssueId: 'issue',
  teamId: 'team',
  groupId: 'label',
};
