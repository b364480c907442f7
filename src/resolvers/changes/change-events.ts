import type { ChangeRow } from '../../db/reads/change-pages.ts';
import { changeTest } from './change-filter.ts';
import { changeCursor, type ChangesRequest, readableBy, readChanges } from './changes.ts';
import type { PageTest } from '../../reference/page-test.ts';
import { type Context, requireSignedIn } from '../context.ts';
import { Violations } from '../errors.ts';
import { type FilterFields, filterPredicate } from '../filters.ts';

/** The maximum number of changes that a stream reads at once. */
export const maxStreamedChanges = 100;

/** A change as an event of a stream. */
interface ChangeEvent {
  event: ChangeRow;
  cursor: string;
  identity: string;
}

/**
 * Reads the changes after a cursor for a stream. Throws `cursor_expired` if changes after the cursor may be missing.
 */
export async function readChangeEvents(
  ctx: Context,
  filterFields: () => FilterFields,
  request: Pick<ChangesRequest, 'after' | 'filter'>,
): Promise<{ events: ChangeEvent[]; cursor: string; hasMore: boolean }> {
  const { nodes, cursor, hasMore } = await readChanges(ctx, filterFields, {
    ...request,
    first: maxStreamedChanges,
  });
  const events = nodes.map((event) => {
    const eventCursor = changeCursor(event);
    return { event, cursor: eventCursor, identity: eventCursor };
  });
  return { events, cursor, hasMore };
}

/** The test of pages for a filter that has been validated already; undefined if only SQL can evaluate the filter. */
export function changePageTest(
  ctx: Context,
  filterFields: () => FilterFields,
  filter: ChangesRequest['filter'],
): PageTest | undefined {
  const matching = filterPredicate(filterFields(), filter ?? {}, new Violations());
  const test = changeTest({ all: [readableBy(requireSignedIn(ctx).principal), matching] });
  return test && { readsIssues: false, mayConcern: (changes) => changes.some(test) };
}
