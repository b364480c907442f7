import { limits } from '../../schema/builder/limits.ts';
import type { AttachmentCreateMutation, AttachmentFieldsFragment } from '../operations.generated.ts';
import {
  boolean,
  code,
  id,
  integer,
  nullable,
  object,
  type Shape,
  shape,
  type ShapeFields,
  text,
  timestamp,
  url,
} from '../shape.ts';

const attachmentFields: ShapeFields<AttachmentFieldsFragment> = {
  id: id('attachment', (attachment) => attachment.id),
  fileName: text(limits.fileName, (attachment) => attachment.fileName),
  contentType: text(limits.mediaType, (attachment) => attachment.contentType),
  sizeBytes: integer((attachment) => attachment.sizeBytes),
  uploadedByUserAccountId: id('user', (attachment) => attachment.uploadedByUserAccountId),
  uploadedByDisplayName: text(limits.name, (attachment) => attachment.uploadedBy.displayName),
  // What has no bytes yet is nowhere to be found.
  uploadedUtc: timestamp((attachment) => attachment.uploadedUtc ?? ''),
  downloadUrl: url((attachment) => attachment.downloadUrl),
  previewUrl: url((attachment) => attachment.previewUrl),
  isPreviewAvailable: boolean((attachment) => attachment.isPreviewAvailable),
  previewKind: code('PreviewKind', (attachment) => attachment.previewKind),
  codeLanguage: text(limits.name, (attachment) => attachment.codeLanguage ?? ''),
};

/** The specification's Attachment. */
export const attachment: Shape<AttachmentFieldsFragment> = shape(
  'Attachment',
  attachmentFields,
  (attachment) => attachment.revision,
);

const announcedAttachment: Shape<AttachmentFieldsFragment> = shape('AnnouncedAttachment', {
  ...attachmentFields,
  uploadedUtc: nullable(timestamp((attachment) => attachment.uploadedUtc)),
});

/** An attachment that waits for its bytes, and where they are to be sent. */
export const attachmentUpload: Shape<AttachmentCreateMutation['attachmentCreate']> = shape(
  'AttachmentUpload',
  {
    attachment: object(announcedAttachment, (upload) => upload.attachment),
    uploadUrl: url((upload) => upload.uploadUrl, 'Where to PUT the bytes, without a token.'),
    expiresUtc: timestamp((upload) => upload.expiresUtc),
  },
);
