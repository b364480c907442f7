import {
  type AttachmentRow,
  beginUpload,
  contentKey,
  finishUpload,
  previewKey,
  selectAttachmentOfLiving,
} from '../../db/attachments.ts';
import type { FileStore } from '../../storage/storage.ts';
import { inTransaction } from '../../db/engine/transaction.ts';
import { selectMemberCard } from '../../db/workspaces.ts';
import { recordActivity } from '../activity.ts';
import { AppError, raise } from '../errors.ts';
import { lockLivingIssue, thingIsGone } from '../issues/issue-locks.ts';
import { findPreview } from './previews.ts';
import type { TenantDb } from '../../db/tables/tenant-tables.ts';

/** An attachment that a signature has vouched for. */
export interface SignedAttachment {
  readonly workspaceId: string;
  readonly attachmentId: string;
}

/** The bytes of a file on their way in. */
export interface Upload {
  /** What the sender says of its length, if anything. */
  readonly contentLength: number | undefined;
  /** Does the sender mean to replace bytes that are there already, as an If-Match says. */
  readonly isReplacement: boolean;
  /** Begins to read. */
  readonly open: () => AsyncIterable<Uint8Array>;
}

/**
 * Takes the bytes of an announced attachment, as many as were announced, and shows it from then on. When anything
 * fails nothing is kept, and the upload may be tried again.
 */
export async function receiveUpload(
  db: TenantDb,
  store: FileStore,
  { attachmentId }: SignedAttachment,
  { contentLength, isReplacement, open }: Upload,
): Promise<AttachmentRow> {
  const announced = (await selectAttachmentOfLiving(db, attachmentId)) ?? thingIsGone('attachment');
  if (announced.uploadedUtc) raise('conflict', 'The attachment already has its bytes.');
  const { sizeBytes } = announced;
  if (contentLength !== undefined && contentLength !== sizeBytes) refuseLength(contentLength, sizeBytes);
  if (isReplacement)
    raise('precondition_failed', 'The attachment has no bytes yet, so If-Match cannot match.');
  const begun = await beginUpload(db, attachmentId);
  if (!begun)
    return raise('conflict', 'The attachment already has its bytes, or too many uploads were started.');
  try {
    await store.put(contentKey(begun), exactly(sizeBytes, open()), sizeBytes);
    const preview = await findPreview(store, begun);
    return await finish(db, begun, preview);
  } catch (error) {
    // After an unexpected end of the transaction the attachment may be there: then its bytes must be, too.
    if (error instanceof AppError) await discard(store, begun);
    throw error;
  }
}

async function finish(
  db: TenantDb,
  begun: AttachmentRow,
  preview: Pick<AttachmentRow, 'previewKind' | 'codeLanguage'>,
): Promise<AttachmentRow> {
  const { issueId, fileName, uploadedByUserAccountId: userAccountId } = begun;
  return inTransaction(db, async (trx) => {
    const { nowUtc } = await lockLivingIssue(trx, issueId);
    const finished = await finishUpload(trx, begun, { uploadedUtc: nowUtc, ...preview });
    if (!finished) return raise('conflict', 'Another upload of the attachment was started after this one.');
    const by = await selectMemberCard(trx, { column: 'userAccountId', value: userAccountId });
    const actor = { userAccountId, displayName: by?.displayName ?? '' };
    const activity = { eventType: 'issue-attachment.created.v1', activityText: `attached ${fileName}` } as const;
    await recordActivity(trx, actor, issueId, nowUtc, activity);
    return finished;
  });
}

async function discard(store: FileStore, begun: AttachmentRow): Promise<void> {
  await store.remove(contentKey(begun));
  await store.remove(previewKey(begun));
}

/** The same bytes; fails when they end early or go on too long. */
async function* exactly(sizeBytes: number, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
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
