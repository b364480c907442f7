import type { Trx } from '../../db/engine/transaction.ts';
import type { EventType } from '../../model/events.ts';
import { logEvents } from '../../resolvers/changes/log-events.ts';

/** Logs an event of an import for each of the subjects. Issues are logged by the statements that write them. */
export async function logImported(
  trx: Trx,
  eventType: EventType,
  subjects: readonly { readonly id: string; readonly teamId?: string | null }[],
): Promise<void> {
  const events = subjects.map(({ id, teamId = null }) => ({ eventType, subjectId: id, teamId }));
  await logEvents(trx, events, { origin: 'import', occurredUtc: new Date() });
}
