import type { IssueRow } from '../db/issues.ts';
import {
  type AttachmentAnnounced,
  createAttachment,
  removeAttachment,
} from '../resolvers/attachments/attachments.ts';
import { Attachment } from './attachments.ts';
import { mutation } from './builder/mutation.ts';
import { builder } from './builder/builder.ts';
import { Issue } from './issues.ts';
import { naming } from './builder/naming.ts';
import { expectedRevision } from './builder/revisions.ts';

const AttachmentCreateInput = builder.inputType('AttachmentCreateInput', {
  description: 'A file to be put on an issue.',
  fields: (t) => ({
    issueKey: t.string({
      required: true,
      extensions: naming('key', 'issue'),
      description: 'The key of the issue, in any case; its id is taken too.',
    }),
    fileName: t.string({
      required: true,
      description: 'What the file is called, 1 to 255 characters after trimming, without a path.',
    }),
    contentType: t.string({
      required: true,
      description: 'Its media type, such as `image/png`; empty when it is not known.',
    }),
    sizeBytes: t.int({
      required: true,
      description: 'How many bytes it has. The upload must have as many; the server has a limit.',
    }),
  }),
});

const AttachmentDeleteInput = builder.inputType('AttachmentDeleteInput', {
  description: 'The attachment to be taken from its issue.',
  fields: (t) => ({
    id: t.id({
      required: true,
      extensions: naming('id', 'attachment'),
      description: 'The id of the attachment (`attachment_…`).',
    }),
    issueKey: t.string({
      extensions: naming('key', 'issue'),
      description: 'The issue that it must be on, by its key or id; any when left out.',
    }),
    expectedRevision: expectedRevision(t),
  }),
});

const AttachmentCreatePayload = builder.objectRef<AttachmentAnnounced>('AttachmentCreatePayload').implement({
  description: 'An attachment that waits for its bytes. Nobody else sees it before they are there.',
  fields: (t) => ({
    attachment: t.expose('attachment', { type: Attachment.ref, description: 'The attachment.' }),
    uploadUrl: t.expose('uploadUrl', {
      type: 'URL',
      description: 'Where to PUT the bytes, without a token: whoever has the address may send them.',
    }),
    expiresUtc: t.expose('expiresUtc', {
      type: 'DateTime',
      description: 'Until when the upload may be begun.',
    }),
    issue: t.expose('issue', { type: Issue.ref, description: 'The issue of the attachment.' }),
  }),
});

const AttachmentDeletePayload = builder
  .objectRef<{ id: string; issue: IssueRow }>('AttachmentDeletePayload')
  .implement({
    description: 'What was deleted.',
    fields: (t) => ({
      deletedAttachmentId: t.idOf('attachment', 'id', {
        description: 'The id of the attachment, which names nothing any more.',
      }),
      issue: t.expose('issue', { type: Issue.ref, description: 'Its issue as it is now.' }),
    }),
  });

mutation('attachmentCreate', AttachmentCreateInput, AttachmentCreatePayload, createAttachment, {
  description: 'Announces a file for an issue and says where its bytes are to be sent within five minutes.',
});

mutation('attachmentDelete', AttachmentDeleteInput, AttachmentDeletePayload, removeAttachment, {
  description: 'Takes an attachment from its issue for good, or gives up an upload.',
});
