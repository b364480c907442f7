import type { ChangeRow } from '../db/reads/change-pages.ts';
import { changeCursor, type ChangesWanted, readChanges } from './changes.ts';
import type { Context } from './context.ts';
import type { FilterFields } from './filters.ts';

/** How many changes a stream reads at once. */
export const streamedChanges = 100;

/** A change as an event of a stream. */
interface ChangeEvent {
  event: ChangeRow;
  cursor: string;
  identity: string;
}

/** Reads the changes after a cursor for a stream. Throws `cursor_expired` if changes after the cursor may be missing. */
export async function readChangeEvents(
  ctx: Context,
  filterFields: () => FilterFields,
  wanted: Pick<ChangesWanted, 'after' | 'filter'>,
): Promise<{ events: ChangeEvent[]; cursor: string; hasMore: boolean }> {
  const { nodes, cursor, hasMore } = await readChanges(ctx, filterFields, {
    ...wanted,
    first: streamedChanges,
  });
  const events = nodes.map((event) => {
    const own = changeCursor(event);
    return { event, cursor: own, identity: own };
  });
  return { events, cursor, hasMore };
}
