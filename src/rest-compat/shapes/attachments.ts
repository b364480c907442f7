import type { AttachmentCreateMutation, AttachmentFieldsFragment } from '../operations.generated.ts';
import {
  boolean,
  code,
  integer,
  nullable,
  object,
  type Shape,
  shape,
  type ShapeFields,
  text,
  timestamp,
} from '../shape.ts';

const attachmentFields: ShapeFields<AttachmentFieldsFragment> = {
  id: text((attachment) => attachment.id),
  fileName: text((attachment) => attachment.fileName),
  contentType: text((attachment) => attachment.contentType),
  sizeBytes: integer((attachment) => attachment.sizeBytes),
  uploadedByUserAccountId: text((attachment) => attachment.uploadedByUserAccountId),
  uploadedByDisplayName: text((attachment) => attachment.uploadedBy.displayName),
  // What has no bytes yet is nowhere to be found.
  uploadedUtc: timestamp((attachment) => attachment.uploadedUtc ?? ''),
  downloadUrl: text((attachment) => attachment.downloadUrl),
  previewUrl: text((attachment) => attachment.previewUrl),
  isPreviewAvailable: boolean((attachment) => attachment.isPreviewAvailable),
  previewKind: code('PreviewKind', (attachment) => attachment.previewKind),
  codeLanguage: text((attachment) => attachment.codeLanguage ?? ''),
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
    uploadUrl: text((upload) => upload.uploadUrl, 'Where to PUT the bytes, without a token.'),
    expiresUtc: timestamp((upload) => upload.expiresUtc),
  },
);
