import type { Insertable, Kysely } from 'kysely';
import type { IssueLinkTable } from './tables/issue-tables.ts';
import type { Row, Tables } from './tables/tables.ts';
import type { Trx } from './engine/transaction.ts';

export async function selectLink(
  db: Kysely<Tables>,
  workspaceId: string,
  id: string,
): Promise<Row<'issueLink'> | undefined> {
  return db
    .selectFrom('issueLink')
    .selectAll()
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .where('deletedUtc', 'is', null)
    .executeTakeFirst();
}

export async function selectEquivalentLink(
  trx: Trx,
  workspaceId: string,
  issueId: string,
  urlHash: Buffer,
): Promise<Row<'issueLink'> | undefined> {
  return trx
    .selectFrom('issueLink')
    .selectAll()
    .where('workspaceId', '=', workspaceId)
    .where('issueId', '=', issueId)
    .where('urlHash', '=', urlHash)
    .where('deletedUtc', 'is', null)
    .executeTakeFirst();
}

/** Inserts the link; undefined when an equivalent one lives on the issue. */
export async function insertLink(
  trx: Trx,
  link: Insertable<IssueLinkTable>,
): Promise<Row<'issueLink'> | undefined> {
  return trx
    .insertInto('issueLink')
    .values(link)
    .onConflict((conflict) =>
      conflict.columns(['workspaceId', 'issueId', 'urlHash']).where('deletedUtc', 'is', null).doNothing(),
    )
    .returningAll()
    .executeTakeFirst();
}

/** Deletes a living link; undefined when it was deleted meanwhile. */
export async function deleteLink(
  trx: Trx,
  workspaceId: string,
  id: string,
  deletedUtc: Date,
): Promise<Row<'issueLink'> | undefined> {
  return trx
    .updateTable('issueLink')
    .set((eb) => ({ deletedUtc, revision: eb('revision', '+', 1) }))
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .where('deletedUtc', 'is', null)
    .returningAll()
    .executeTakeFirst();
}
