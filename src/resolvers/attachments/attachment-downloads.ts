import { Readable } from 'node:stream';
import { type AttachmentRow, contentKey, selectAttachmentOfExistingIssue } from '../../db/attachments.ts';
import { withExactLength } from '../../storage/exact-length.ts';
import type { ByteRange, FileStore } from '../../storage/storage.ts';
import type { SignedAttachment } from './attachment-uploads.ts';
import { raise } from '../errors.ts';
import { raiseNotFound } from '../not-found.ts';
import { readPreview } from './previews.ts';
import type { TenantDb } from '../../db/tables/tenant-tables.ts';

/** A file that can be served, as a whole or in part. */
interface ServedFile {
  readonly fileName: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  open(range?: ByteRange): Promise<Readable | Buffer>;
}

/** An attachment whose bytes were uploaded. Throws `not_found`. */
export async function requireUploaded(
  db: TenantDb,
  { attachmentId }: SignedAttachment,
): Promise<AttachmentRow> {
  const attachment = await selectAttachmentOfExistingIssue(db, attachmentId);
  return attachment?.uploadedUtc ? attachment : raiseNotFound('attachment');
}

/** The preview of an attachment; throws `not_found` if it has none. */
export async function previewOf(store: FileStore, attachment: AttachmentRow): Promise<ServedFile> {
  const preview = await readPreview(store, attachment);
  if (!preview) return raise('not_found', 'The attachment has no preview.');
  const { contentType } = preview;
  if ('from' in preview) return { ...contentOf(store, attachment), contentType };
  const { bytes } = preview;
  return {
    fileName: attachment.fileName,
    contentType,
    sizeBytes: bytes.length,
    open: async (range) => (range ? bytes.subarray(range.start, range.end + 1) : bytes),
  };
}

/** The uploaded bytes of an attachment. */
export function contentOf(store: FileStore, attachment: AttachmentRow): ServedFile {
  const { fileName, contentType, sizeBytes } = attachment;
  return {
    fileName,
    contentType,
    sizeBytes,
    open: async (range) => {
      const bytes =
        (await store.get(contentKey(attachment), range)) ??
        raise('not_found', 'The bytes of the attachment are gone.');
      return Readable.from(withExactLength(range ? range.end - range.start + 1 : sizeBytes, bytes), {
        objectMode: false,
      });
    },
  };
}
