import type { AttachmentFieldsFragment } from '../operations.generated.ts';
import { boolean, code, integer, type Shape, shape, text, timestamp } from '../shape.ts';

/** The specification's Attachment. */
export const attachment: Shape<AttachmentFieldsFragment> = shape('Attachment', {
  id: text((attachment) => attachment.id),
  fileName: text((attachment) => attachment.fileName),
  contentType: text((attachment) => attachment.contentType),
  sizeBytes: integer((attachment) => attachment.sizeBytes),
  uploadedByUserAccountId: text((attachment) => attachment.uploadedByUserAccountId),
  uploadedByDisplayName: text((attachment) => attachment.uploadedBy.displayName),
  uploadedUtc: timestamp((attachment) => attachment.uploadedUtc),
  downloadUrl: text((attachment) => attachment.downloadUrl),
  previewUrl: text((attachment) => attachment.previewUrl),
  isPreviewAvailable: boolean((attachment) => attachment.isPreviewAvailable),
  previewKind: code('PreviewKind', (attachment) => attachment.previewKind),
  codeLanguage: text((attachment) => attachment.codeLanguage ?? ''),
});
