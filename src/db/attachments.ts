import { type Kysely } from 'kysely';
import type { Row, Tables } from './tables/tables.ts';
import type { Trx } from './engine/transaction.ts';
import type { NewRow, TenantDb } from './tables/tenant-tables.ts';

export type AttachmentRow = Row<'attachment'>;

/** The maximum number of times that the upload of an attachment may be started. */
const maxUploads = 100;

/**
 * The key of the uploaded bytes in the store. Each started upload increases `revision` and has a key of its own, so
 * that a late upload cannot overwrite one that is already finished.
 */
export function contentKey({ workspaceId, id, revision }: UploadName): string {
  return `${workspaceId}/${id.slice(-2)}/${id}.${revision}`;
}

/** The key of the preview picture of an image. */
export function previewKey(name: UploadName): string {
  return `${contentKey(name)}.preview`;
}

/** The keys of all objects that uploads of an attachment may have stored. */
export function keysOf({ revision, ...name }: UploadName): string[] {
  const uploads = Array.from({ length: revision }, (_, index) => ({ ...name, revision: index + 1 }));
  return uploads.flatMap((upload) => [contentKey(upload), previewKey(upload)]);
}

type UploadName = Pick<AttachmentRow, 'workspaceId' | 'id' | 'revision'>;

export async function insertAttachment(trx: Trx, attachment: NewRow<'attachment'>): Promise<AttachmentRow> {
  return trx.insertInto('attachment').values(attachment).returningAll().executeTakeFirstOrThrow();
}

/** An attachment that is not deleted, whether its upload is finished or not. */
export async function selectAttachment(db: TenantDb, id: string): Promise<AttachmentRow | undefined> {
  return db
    .selectFrom('attachment')
    .selectAll()
    .where('id', '=', id)
    .where('deletedUtc', 'is', null)
    .executeTakeFirst();
}

/** An attachment that is not deleted and whose issue is not deleted. */
export async function selectAttachmentOfExistingIssue(
  db: TenantDb,
  id: string,
): Promise<AttachmentRow | undefined> {
  return db
    .selectFrom('attachment as a')
    .innerJoin('issue as i', 'i.id', 'a.issueId')
    .selectAll('a')
    .where('a.id', '=', id)
    .where('a.deletedUtc', 'is', null)
    .where('i.deletedUtc', 'is', null)
    .executeTakeFirst();
}

export type UploadedFile = Pick<AttachmentRow, 'workspaceId' | 'id' | 'revision' | 'fileName' | 'sizeBytes'>;

/** A page of the uploaded attachments of all workspaces, ordered by workspace and id. */
export async function selectUploadedFiles(
  unscoped: Kysely<Tables>,
  after: Pick<UploadedFile, 'workspaceId' | 'id'> | undefined,
  limit: number,
): Promise<UploadedFile[]> {
  return unscoped
    .selectFrom('attachment')
    .select(['workspaceId', 'id', 'revision', 'fileName', 'sizeBytes'])
    .where('uploadedUtc', 'is not', null)
    .$if(after !== undefined, (query) =>
      query.where((eb) =>
        eb(eb.refTuple('workspaceId', 'id'), '>', eb.tuple(after?.workspaceId ?? '', after?.id ?? '')),
      ),
    )
    .orderBy('workspaceId')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Starts an upload. Returns undefined if an upload is already finished, or if too many were started. */
export async function beginUpload(db: TenantDb, id: string): Promise<AttachmentRow | undefined> {
  return db
    .updateTable('attachment')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where('id', '=', id)
    .where('uploadedUtc', 'is', null)
    .where('deletedUtc', 'is', null)
    .where('revision', '<', maxUploads)
    .returningAll()
    .executeTakeFirst();
}

/**
 * Finishes the upload that was started last. Returns undefined if this is an earlier one, or if one is already
 * finished.
 */
export async function finishUpload(
  trx: Trx,
  { id, revision }: UploadName,
  columns: Pick<AttachmentRow, 'uploadedUtc' | 'previewKind' | 'codeLanguage'>,
): Promise<AttachmentRow | undefined> {
  return trx
    .updateTable('attachment')
    .set(columns)
    .where('id', '=', id)
    .where('revision', '=', revision)
    .where('uploadedUtc', 'is', null)
    .where('deletedUtc', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/**
 * Deletes an attachment under a locked issue, and says whether its bytes had been uploaded. Returns undefined if it was
 * deleted meanwhile. Clearing `uploadedUtc` marks the attachment for the janitor, which removes its bytes and its row.
 */
export async function markAttachmentDeleted(
  trx: Trx,
  id: string,
  deletedUtc: Date,
): Promise<{ wasUploaded: boolean } | undefined> {
  return trx
    .updateTable('attachment')
    .set({ deletedUtc, uploadedUtc: null })
    .where('id', '=', id)
    .where('deletedUtc', 'is', null)
    .returning((eb) =>
      // A statement sees the rows that it changes as they were before it; nobody else changes them, as the issue is locked.
      eb
        .exists(
          eb
            .selectFrom('attachment as before')
            .select('before.id')
            .whereRef('before.id', '=', 'attachment.id')
            .where('before.uploadedUtc', 'is not', null),
        )
        .$castTo<boolean>()
        .as('wasUploaded'),
    )
    .executeTakeFirst();
}
