import { beginLogAnew } from '../../db/changes.ts';
import type { Database } from '../../db/engine/engine.ts';
import { inTransaction } from '../../db/engine/transaction.ts';
import { logChanges } from '../../db/writes/change-log.ts';
import { changeOrigin } from '../../model/codes.ts';
import { type Actor, recordAuditEntries } from '../access/audit.ts';
import { newUuid } from '../ids.ts';

/** Makes the log of a workspace start over: all its cursors expire, and `changes.lost.v1` is its next event. */
export async function resetChanges(
  database: Pick<Database, 'of'>,
  { id: workspaceId, name }: { id: string; name: string },
  actor: Actor,
): Promise<void> {
  await inTransaction(database.of(workspaceId), async (trx) => {
    await beginLogAnew(trx);
    const subject = { kind: 'workspace', id: workspaceId, name };
    await recordAuditEntries(trx, actor, [{ act: 'changes.reset', subject }]);
    await logChanges(trx, [
      {
        changeId: newUuid(),
        eventType: 'changes.lost.v1',
        occurredUtc: new Date(),
        actorUserAccountId: null,
        issueId: null,
        teamId: null,
        subjectId: workspaceId,
        origin: changeOrigin.command,
        requestId: null,
      },
    ]);
  });
}
