import { limits } from '../../model/limits.ts';
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
  text,
  timestamp,
  url,
} from '../shape.ts';

const attachmentFields = {
  id: id('attachment', 'id'),
  fileName: text(limits.fileName, 'fileName'),
  contentType: text(limits.mediaType, 'contentType'),
  sizeBytes: integer('sizeBytes'),
  uploadedByUserAccountId: id('user', 'uploadedByUserAccountId'),
  uploadedByDisplayName: text(limits.name, 'uploadedBy.displayName'),
  // Never null here, because an attachment cannot be read before its bytes have been uploaded.
  uploadedUtc: timestamp('uploadedUtc', { ifNull: '' }),
  downloadUrl: url('downloadUrl'),
  previewUrl: url('previewUrl'),
  isPreviewAvailable: boolean('isPreviewAvailable'),
  previewKind: code('PreviewKind', 'previewKind'),
  codeLanguage: text(limits.name, 'codeLanguage', { ifNull: '' }),
};

/** The specification's Attachment. */
export const attachment: Shape<AttachmentFieldsFragment> = shape('Attachment', attachmentFields, 'revision');

const announcedAttachment: Shape<AttachmentFieldsFragment> = shape('AnnouncedAttachment', {
  ...attachmentFields,
  uploadedUtc: nullable(timestamp('uploadedUtc')),
});

/** An attachment whose bytes have not been uploaded, and the URL to upload them to. */
export const attachmentUpload: Shape<AttachmentCreateMutation['attachmentCreate']> = shape(
  'AttachmentUpload',
  {
    attachment: object(announcedAttachment, 'attachment'),
    uploadUrl: url('uploadUrl', { description: 'The URL to PUT the bytes to, without a token.' }),
    expiresUtc: timestamp('expiresUtc'),
  },
);
