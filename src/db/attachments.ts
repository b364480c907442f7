import { type Kysely } from 'kysely';
import type { Row, Tables } from './tables/tables.ts';
import type { Trx } from './engine/transaction.ts';
import type { NewRow, TenantDb } from './tables/tenant-tables.ts';

export type AttachmentRow = Row<'attachment'>;

/** How often an upload may be begun. */
const mostUploads = 100;

/**
 * The key of the uploaded bytes in the store. Each upload that is begun counts `revision` on and writes under a key
 * of its own, so that whoever comes late never touches what another has finished; then the row does not change again.
 */
export function contentKey({ workspaceId, id, revision }: UploadName): string {
  return `${workspaceId}/${id.slice(-2)}/${id}.${revision}`;
}

/** The key of the picture that is shown of an image. */
export function previewKey(name: UploadName): string {
  return `${contentKey(name)}.preview`;
}

/** Everything that uploads of an attachment may have put into the store. */
export function keysOf({ revision, ...name }: UploadName): string[] {
  const uploads = Array.from({ length: revision }, (_, index) => ({ ...name, revision: index + 1 }));
  return uploads.flatMap((upload) => [contentKey(upload), previewKey(upload)]);
}

type UploadName = Pick<AttachmentRow, 'workspaceId' | 'id' | 'revision'>;

export async function insertAttachment(trx: Trx, attachment: NewRow<'attachment'>): Promise<AttachmentRow> {
  return trx.insertInto('attachment').values(attachment).returningAll().executeTakeFirstOrThrow();
}

/** A living attachment, whether its bytes are there or not. */
export async function selectAttachment(db: TenantDb, id: string): Promise<AttachmentRow | undefined> {
  return db
    .selectFrom('attachment')
    .selectAll()
    .where('id', '=', id)
    .where('deletedUtc', 'is', null)
    .executeTakeFirst();
}

/** The same while its issue lives. */
export async function selectAttachmentOfLiving(db: TenantDb, id: string): Promise<AttachmentRow | undefined> {
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

/** Attachments of all workspaces whose bytes are there, in the order of their keys: those after one, a page of them. */
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

/** Begins an upload: undefined when another is finished, or when too many were begun. */
export async function beginUpload(db: TenantDb, id: string): Promise<AttachmentRow | undefined> {
  return db
    .updateTable('attachment')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where('id', '=', id)
    .where('uploadedUtc', 'is', null)
    .where('deletedUtc', 'is', null)
    .where('revision', '<', mostUploads)
    .returningAll()
    .executeTakeFirst();
}

/** Finishes the upload that was begun last; undefined when this is not the one, or one is finished. */
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
 * Deletes a living attachment; undefined when it was deleted meanwhile. Without `uploadedUtc` it is among those whose
 * bytes and rows are removed soon.
 */
export async function deleteAttachment(
  trx: Trx,
  id: string,
  deletedUtc: Date,
): Promise<AttachmentRow | undefined> {
  return trx
    .updateTable('attachment')
    .set({ deletedUtc, uploadedUtc: null })
    .where('id', '=', id)
    .where('deletedUtc', 'is', null)
    .returningAll()
    .executeTakeFirst();
}
