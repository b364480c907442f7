import type { Row } from './tables/tables.ts';
import type { Trx } from './engine/transaction.ts';
import type { TenantDb } from './tables/tenant-tables.ts';

export async function selectComment(db: TenantDb, id: string): Promise<Row<'comment'> | undefined> {
  return db
    .selectFrom('comment')
    .selectAll()
    .where('id', '=', id)
    .where('deletedUtc', 'is', null)
    .executeTakeFirst();
}

/** The comment that a reply refers to, with the name of its author. */
export async function selectParentComment(
  trx: Trx,
  issueId: string,
  id: string,
): Promise<{ id: string; authorUserAccountId: string; authorDisplayName: string } | undefined> {
  return trx
    .selectFrom('comment')
    .innerJoin('member', 'member.userAccountId', 'comment.authorUserAccountId')
    .select(['comment.id', 'comment.authorUserAccountId', 'member.displayName as authorDisplayName'])
    .where('comment.issueId', '=', issueId)
    .where('comment.id', '=', id)
    .where('comment.deletedUtc', 'is', null)
    .executeTakeFirst();
}

/** Updates a comment and increases its revision. Returns undefined if it was deleted meanwhile. */
export async function updateCommentRow(
  trx: Trx,
  id: string,
  columns: { body: string; isEdited: boolean; updatedUtc: Date } | { deletedUtc: Date },
): Promise<Row<'comment'> | undefined> {
  return trx
    .updateTable('comment')
    .set(columns)
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where('id', '=', id)
    .where('deletedUtc', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** The time of the newest comment on an issue that is not deleted. */
export async function selectLastCommentUtc(trx: Trx, issueId: string): Promise<Date | null> {
  const row = await trx
    .selectFrom('comment')
    .select('createdUtc')
    .where('issueId', '=', issueId)
    .where('deletedUtc', 'is', null)
    .orderBy('createdUtc', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.createdUtc ?? null;
}
