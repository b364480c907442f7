import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { contentKey } from '../../db/attachments.ts';
import type { Database } from '../../db/engine/engine.ts';
import { analyzeTables, insertRows } from '../../db/writes/import-writes.ts';
import type { FileStore } from '../../storage/storage.ts';
import type { TableName } from '../../db/tables/tables.ts';
import { inTransaction, type Trx } from '../../db/engine/transaction.ts';
import { insertWorkspace, selectWorkspaces } from '../../db/workspaces.ts';
import { type Actor, recordDeeds, systemActor } from '../../resolvers/audit.ts';
import { raise } from '../../resolvers/errors.ts';
import { encodeId } from '../../resolvers/ids.ts';
import { attachmentBytes } from './attachment-bytes.ts';
import { demoRows, demoWorkspace } from './rows.ts';
import { type DemoRows, demoTables } from './world.ts';

/**
 * Fills in the demo workspace, in one transaction, as it is at the given time. The same time gives the same rows;
 * `conflict` when the database has the workspace already. The files are put into the store first, if there is one.
 */
export async function seedDemo(
  { db, unscoped }: Database,
  {
    now = new Date(),
    log = () => undefined,
    store,
    actor = systemActor,
  }: { now?: Date; log?: (line: string) => void; store?: FileStore; actor?: Actor } = {},
): Promise<{ workspaceId: string; ownerUserAccountId: string }> {
  const { workspaceId, name } = demoWorkspace;
  const present = await selectWorkspaces(unscoped);
  if (present.some(({ id }) => id === workspaceId))
    raise('conflict', 'The database has the demo workspace already.');
  const { rows, createdUtc, ownerUserAccountId } = demoRows(now);
  if (store) await putFiles(store, rows);
  await inTransaction(db, async (trx) => {
    await insertWorkspace(trx, { workspaceId, name, createdUtc, updatedUtc: createdUtc });
    await insertAll(trx, rows);
    const subject = { kind: 'workspace', id: encodeId('workspace', workspaceId), name };
    await recordDeeds(trx, workspaceId, actor, [{ act: 'workspace.created', subject }]);
  });
  // Nobody else does: the embedded engine has no autovacuum.
  await analyzeTables(unscoped);
  const { team, member, project, issue } = rows;
  log(
    `${name}: ${team.length} teams, ${member.length} members, ${project.length} projects, ${issue.length} issues.`,
  );
  return { workspaceId, ownerUserAccountId };
}

async function putFiles(store: FileStore, { attachment }: DemoRows): Promise<void> {
  for (const { workspaceId, id, fileName } of attachment) {
    const bytes = attachmentBytes({ fileName });
    await store.put(contentKey({ workspaceId, id, revision: 1 }), Readable.from([bytes]), bytes.length);
  }
}

/** Between tables the event loop has its turn: the embedded engine would hold it to the end. */
async function insertAll(trx: Trx, rows: DemoRows): Promise<void> {
  for (const table of demoTables) {
    await insertRows<TableName>(trx, table, rows[table]);
    await nextTurn();
  }
}
