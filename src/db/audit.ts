import { insertRows } from './writes/insert-rows.ts';
import type { Row } from './tables/tables.ts';
import type { Trx } from './engine/transaction.ts';
import type { NewRow, TenantDb } from './tables/tenant-tables.ts';

export function insertAuditEntries(trx: Trx, entries: readonly NewRow<'auditEntry'>[]): Promise<void> {
  return insertRows(trx, 'auditEntry', entries);
}

/** The conditions for audit entries. An entry must match all that are set. */
export interface AuditSelection {
  readonly since?: Date | undefined;
  readonly userAccountId?: string | undefined;
  readonly actorName?: string | undefined;
  readonly act?: string | undefined;
  readonly limit: number;
}

/** Whether the audit log has an entry of an actor with this name. */
export async function hasActorNamed(db: TenantDb, actorName: string): Promise<boolean> {
  const found = await db
    .selectFrom('auditEntry')
    .select('id')
    .where('actorName', '=', actorName)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** The newest entries of a workspace, newest first. */
export function selectAuditEntries(
  db: TenantDb,
  { since, userAccountId, actorName, act, limit }: AuditSelection,
): Promise<Row<'auditEntry'>[]> {
  return db
    .selectFrom('auditEntry as a')
    .selectAll('a')
    .$if(since !== undefined, (query) => query.where('a.occurredUtc', '>=', since as Date))
    .$if(userAccountId !== undefined, (query) => query.where('a.userAccountId', '=', userAccountId as string))
    .$if(actorName !== undefined, (query) => query.where('a.actorName', '=', actorName as string))
    .$if(act !== undefined, (query) => query.where('a.act', '=', act as string))
    .orderBy('a.occurredUtc', 'desc')
    .orderBy('a.id', 'desc')
    .limit(limit)
    .execute();
}
