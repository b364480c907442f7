import {
  type AttachmentRow,
  beginUpload,
  contentKey,
  finishUpload,
  keysOf,
  previewKey,
  selectAttachmentOfExistingIssue,
} from '../../db/attachments.ts';
import type { FileStore } from '../../storage/storage.ts';
import { inTransaction } from '../../db/engine/transaction.ts';
import { selectMemberCard } from '../../db/workspaces.ts';
import { type ActivityActor, recordActivity } from '../activity.ts';
import { AppError, raise } from '../errors.ts';
import { lockExistingIssue } from '../issues/issue-locks.ts';
import { raiseNotFound } from '../not-found.ts';
import { findPreview, type PreviewColumns } from './previews.ts';
import type { TenantDb } from '../../db/tables/tenant-tables.ts';

/** The attachment of a signed URL whose signature is valid. */
export interface SignedAttachment {
  readonly workspaceId: string;
  readonly attachmentId: string;
}

/** The request that uploads, for the log of changes. */
type UploadRequest = Pick<ActivityActor, 'requestId'>;

/** An upload that is being received. */
export interface Upload {
  /** The length that the client has declared, if any. */
  readonly contentLength: number | undefined;
  /** Whether the client wants to replace existing bytes (`If-Match`). */
  readonly isReplacement: boolean;
  /** Starts reading the bytes. */
  readonly open: () => AsyncIterable<Uint8Array>;
}

/** Begins to receive the bytes of an announced attachment. Refuses a request whose length or condition does not match. */
export async function startUpload(
  db: TenantDb,
  { attachmentId }: SignedAttachment,
  { contentLength, isReplacement }: Upload,
): Promise<AttachmentRow> {
  const announced = (await selectAttachmentOfExistingIssue(db, attachmentId)) ?? raiseNotFound('attachment');
  if (announced.uploadedUtc) raise('conflict', 'The attachment already has its bytes.');
  const { sizeBytes } = announced;
  if (contentLength !== undefined && contentLength !== sizeBytes) refuseLength(contentLength, sizeBytes);
  if (isReplacement)
    raise('precondition_failed', 'The attachment has no bytes yet, so If-Match cannot match.');
  return (
    (await beginUpload(db, attachmentId)) ??
    raise('conflict', 'The attachment already has its bytes, or too many uploads were started.')
  );
}

/**
 * Receives the bytes of an upload, which must have the announced size, and makes the attachment visible. If anything
 * fails, nothing is stored, and the upload may be retried.
 */
export async function receiveUpload(
  db: TenantDb,
  store: FileStore,
  started: AttachmentRow,
  { open }: Upload,
  uploadRequest: UploadRequest,
): Promise<AttachmentRow> {
  const { sizeBytes } = started;
  try {
    await store.put(contentKey(started), requireSize(sizeBytes, open()), sizeBytes);
    const preview = await previewOrDiscard(store, started);
    const finished = await finish(db, started, preview, uploadRequest);
    await discardEarlier(store, started);
    return finished;
  } catch (error) {
    // The store has removed the bytes of an interrupted upload already, but it may have written them after that. After an unexpected
    // error the transaction may have been committed, and then the bytes must remain.
    if (error instanceof AppError) await discard(store, started);
    throw error;
  }
}

/** The preview of stored bytes. If the store fails meanwhile, the bytes are removed. */
async function previewOrDiscard(store: FileStore, started: AttachmentRow): Promise<PreviewColumns> {
  try {
    return await findPreview(store, started);
  } catch (error) {
    await discard(store, started);
    throw error;
  }
}

async function finish(
  db: TenantDb,
  started: AttachmentRow,
  preview: PreviewColumns,
  { requestId }: UploadRequest,
): Promise<AttachmentRow> {
  const { issueId, fileName, uploadedByUserAccountId: userAccountId } = started;
  return inTransaction(db, async (trx) => {
    const { nowUtc } = await lockExistingIssue(trx, issueId);
    const finished = await finishUpload(trx, started, { uploadedUtc: nowUtc, ...preview });
    if (!finished) return raise('conflict', 'Another upload of the attachment was started after this one.');
    const uploader = await selectMemberCard(trx, { column: 'userAccountId', value: userAccountId });
    const actor = { userAccountId, displayName: uploader?.displayName ?? '', requestId };
    const activity = {
      eventType: 'issue-attachment.created.v1',
      activityText: `attached ${fileName}`,
      subject: finished.id,
    } as const;
    await recordActivity(trx, actor, issueId, nowUtc, activity);
    return finished;
  });
}

/**
 * Removes the bytes that earlier attempts to upload the attachment have left in the store, for example because their
 * process was killed. Failures are ignored, because the upload itself is done.
 */
async function discardEarlier(store: FileStore, { revision, ...started }: AttachmentRow): Promise<void> {
  await Promise.allSettled(keysOf({ ...started, revision: revision - 1 }).map((key) => store.remove(key)));
}

/** Removes the bytes of a failed upload. What the store does not remove now, the next upload or the janitor removes. */
async function discard(store: FileStore, started: AttachmentRow): Promise<void> {
  await Promise.allSettled([contentKey(started), previewKey(started)].map((key) => store.remove(key)));
}

/** The same bytes; throws if there are fewer or more than `sizeBytes`. */
async function* requireSize(sizeBytes: number, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let received = 0;
  try {
    for await (const chunk of bytes) {
      received += chunk.length;
      if (received > sizeBytes) refuseLength(received, sizeBytes);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('request_timeout', 'The upload was interrupted or stalled.');
  }
  if (received < sizeBytes) refuseLength(received, sizeBytes);
}

function refuseLength(length: number, sizeBytes: number): never {
  if (length > sizeBytes) {
    raise('payload_too_large', `The upload is larger than the ${sizeBytes} announced bytes.`);
  }
  raise('validation_failed', `The upload has ${length} bytes; ${sizeBytes} were announced.`, [
    { field: 'body', message: `must have the ${sizeBytes} announced bytes` },
  ]);
}
