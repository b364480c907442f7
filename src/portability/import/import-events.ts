import { logChanges } from '../../db/writes/change-log.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import { changeOrigin } from '../../model/codes.ts';
import type { EventType } from '../../model/events.ts';
import { newUuid } from '../../resolvers/ids.ts';

/** Logs an event of an import for each of the subjects. Issues are logged by the statements that write them. */
export async function logImported(
  trx: Trx,
  eventType: EventType,
  subjects: readonly { readonly id: string; readonly teamId?: string | null }[],
): Promise<void> {
  const occurredUtc = new Date();
  const changes = subjects.map(({ id: subjectId, teamId = null }) => ({
    changeId: newUuid(),
    eventType,
    occurredUtc,
    actorUserAccountId: null,
    issueId: null,
    teamId,
    subjectId,
    origin: changeOrigin.import,
    requestId: null,
  }));
  await logChanges(trx, changes);
}
