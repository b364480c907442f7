import type { IssueRow } from '../db/issues.ts';
import {
  type AnnouncedAttachment,
  createAttachment,
  deleteAttachment,
} from '../resolvers/attachments/attachments.ts';
import { Attachment } from './attachments.ts';
import { mutation } from './builder/mutation.ts';
import { builder } from './builder/builder.ts';
import { expectedIssueKey, issueKey } from './issue-key.ts';
import { Issue } from './issues.ts';
import { naming } from './builder/naming.ts';
import { expectedRevision } from './builder/revisions.ts';

const AttachmentCreateInput = builder.inputType('AttachmentCreateInput', {
  description: 'The file to attach to an issue.',
  fields: (t) => ({
    issueKey: issueKey(t),
    fileName: t.string({
      required: true,
      description: 'The name of the file without a path, 1 to 255 characters after trimming.',
    }),
    contentType: t.string({
      required: true,
      description: 'The media type of the file, such as `image/png`; empty if it is unknown.',
    }),
    sizeBytes: t.int({
      required: true,
      description:
        'The size of the file in bytes. The upload must have exactly this size, and the server has a limit.',
    }),
  }),
});

const AttachmentDeleteInput = builder.inputType('AttachmentDeleteInput', {
  description: 'The attachment to delete.',
  fields: (t) => ({
    id: t.id({
      required: true,
      extensions: naming('id', 'attachment'),
      description: 'The id of the attachment (`attachment_…`).',
    }),
    issueKey: expectedIssueKey(t),
    expectedRevision: expectedRevision(t),
  }),
});

const AttachmentCreatePayload = builder.objectRef<AnnouncedAttachment>('AttachmentCreatePayload').implement({
  description: 'An attachment whose bytes have not arrived yet. Until they have, nobody else can see it.',
  scope: 'inherited',
  fields: (t) => ({
    attachment: t.expose('attachment', { type: Attachment.ref, description: 'The attachment.' }),
    uploadUrl: t.expose('uploadUrl', {
      type: 'URL',
      description:
        'The URL to PUT the bytes to. It needs no access token: anyone who has the URL can upload.',
    }),
    expiresUtc: t.expose('expiresUtc', {
      type: 'DateTime',
      description: 'The time until which the upload may start.',
    }),
    issue: t.expose('issue', { type: Issue.ref, description: 'The issue of the attachment.' }),
  }),
});

const AttachmentDeletePayload = builder
  .objectRef<{ id: string; issue: IssueRow }>('AttachmentDeletePayload')
  .implement({
    description: 'The result of the deletion.',
    scope: 'inherited',
    fields: (t) => ({
      deletedAttachmentId: t.idOf('attachment', 'id', {
        description: 'The id that the attachment had.',
      }),
      issue: t.expose('issue', { type: Issue.ref, description: 'The issue, after the change.' }),
    }),
  });

mutation('attachmentCreate', AttachmentCreateInput, AttachmentCreatePayload, createAttachment, {
  description:
    'Announces a file for an issue and returns the URL that its bytes must be sent to within five minutes.',
  scope: 'issues:write',
  events: { none: 'an attachment is visible when its bytes have been uploaded' },
});

mutation('attachmentDelete', AttachmentDeleteInput, AttachmentDeletePayload, deleteAttachment, {
  description: 'Deletes an attachment permanently, or cancels an upload.',
  scope: 'issues:write',
  events: ['issue-attachment.deleted.v1'],
});
