import type { Row } from './tables/tables.ts';
import type { Trx } from './engine/transaction.ts';
import type { NewRow, TenantDb } from './tables/tenant-tables.ts';

export async function selectLink(db: TenantDb, id: string): Promise<Row<'issueLink'> | undefined> {
  return db
    .selectFrom('issueLink')
    .selectAll()
    .where('id', '=', id)
    .where('deletedUtc', 'is', null)
    .executeTakeFirst();
}

export async function selectEquivalentLink(
  trx: Trx,
  issueId: string,
  urlHash: Buffer,
): Promise<Row<'issueLink'> | undefined> {
  return trx
    .selectFrom('issueLink')
    .selectAll()
    .where('issueId', '=', issueId)
    .where('urlHash', '=', urlHash)
    .where('deletedUtc', 'is', null)
    .executeTakeFirst();
}

/** Inserts the link. Returns undefined if the issue already has an equivalent link. */
export async function insertLink(trx: Trx, link: NewRow<'issueLink'>): Promise<Row<'issueLink'> | undefined> {
  return trx
    .insertInto('issueLink')
    .values(link)
    .onConflict((conflict) =>
      conflict.columns(['issueId', 'urlHash']).where('deletedUtc', 'is', null).doNothing(),
    )
    .returningAll()
    .executeTakeFirst();
}

/** Marks a link as deleted. Returns undefined if it was deleted meanwhile. */
export async function markLinkDeleted(
  trx: Trx,
  id: string,
  deletedUtc: Date,
): Promise<Row<'issueLink'> | undefined> {
  return trx
    .updateTable('issueLink')
    .set((eb) => ({ deletedUtc, revision: eb('revision', '+', 1) }))
    .where('id', '=', id)
    .where('deletedUtc', 'is', null)
    .returningAll()
    .executeTakeFirst();
}
