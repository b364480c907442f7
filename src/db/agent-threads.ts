import type { Row } from './tables/tables.ts';
import type { Trx } from './engine/transaction.ts';
import type { NewRow } from './tables/tenant-tables.ts';

/** The thread of an issue. Only transactions that hold the lock of the issue change it. */
export async function selectThread(trx: Trx, issueId: string): Promise<Row<'agentThread'> | undefined> {
  return trx.selectFrom('agentThread').selectAll().where('issueId', '=', issueId).executeTakeFirst();
}

/** The installation of one agent. */
export async function selectInstallationOf(
  trx: Trx,
  agentUserAccountId: string,
): Promise<Row<'agentInstallation'> | undefined> {
  return trx
    .selectFrom('agentInstallation')
    .selectAll()
    .where('agentUserAccountId', '=', agentUserAccountId)
    .executeTakeFirst();
}

/** The default installation of the workspace; if none is the default, the oldest one. */
export async function selectInstallation(trx: Trx): Promise<Row<'agentInstallation'> | undefined> {
  return trx
    .selectFrom('agentInstallation')
    .selectAll()
    .orderBy('isDefault', 'desc')
    .orderBy('createdUtc')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
}

export async function selectMessage(
  trx: Trx,
  threadId: string,
  id: string,
): Promise<{ id: string } | undefined> {
  return trx
    .selectFrom('agentThreadMessage')
    .select('id')
    .where('threadId', '=', threadId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Inserts the thread of an issue, or updates it to its state after a new message. */
export async function upsertThread(trx: Trx, thread: NewRow<'agentThread'>): Promise<Row<'agentThread'>> {
  return trx
    .insertInto('agentThread')
    .values(thread)
    .onConflict((conflict) =>
      conflict.columns(['issueId']).doUpdateSet((eb) => ({
        status: eb.ref('excluded.status'),
        lastMessageAuthorType: eb.ref('excluded.lastMessageAuthorType'),
        lastMessageType: eb.ref('excluded.lastMessageType'),
        currentTurnNumber: eb.ref('excluded.currentTurnNumber'),
        lastCompletedTurnNumber: eb.ref('excluded.lastCompletedTurnNumber'),
        messageCount: eb.ref('excluded.messageCount'),
        lastMessagePreview: eb.ref('excluded.lastMessagePreview'),
        lastMessageUtc: eb.ref('excluded.lastMessageUtc'),
        revision: eb('agentThread.revision', '+', 1),
      })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function insertMessage(
  trx: Trx,
  message: NewRow<'agentThreadMessage'>,
): Promise<Row<'agentThreadMessage'>> {
  return trx.insertInto('agentThreadMessage').values(message).returningAll().executeTakeFirstOrThrow();
}
