import { restartLog } from '../../db/changes.ts';
import type { Database } from '../../db/engine/engine.ts';
import { inTransaction } from '../../db/engine/transaction.ts';
import { type Actor, recordAuditEntries } from '../access/audit.ts';
import { logEvents } from './log-events.ts';

/** Makes the log of a workspace start over: all its cursors expire, and `changes.lost.v1` is among its first events. */
export async function resetChanges(
  database: Pick<Database, 'of'>,
  { id: workspaceId, name }: { id: string; name: string },
  actor: Actor,
): Promise<void> {
  await inTransaction(database.of(workspaceId), async (trx) => {
    await restartLog(trx);
    const subject = { kind: 'workspace', id: workspaceId, name };
    await recordAuditEntries(trx, actor, [{ act: 'changes.reset', subject }]);
    const event = { eventType: 'changes.lost.v1', subjectId: workspaceId } as const;
    await logEvents(trx, [event], { origin: 'command', occurredUtc: new Date() });
  });
}
