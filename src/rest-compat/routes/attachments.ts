import { limits } from '../../model/limits.ts';
import { bodyOf, required } from '../body.ts';
import { equals } from '../comparators.ts';
import {
  AttachmentContentDocument,
  AttachmentCreateDocument,
  AttachmentDocument,
  AttachmentPreviewDocument,
  AttachmentsDocument,
} from '../operations.generated.ts';
import { page, pathId } from '../params.ts';
import { createdAt, item, list, redirect } from '../replies.ts';
import { route } from '../route.ts';
import { attachment, attachmentUpload } from '../shapes/attachments.ts';
import { id, integer, text, type Value, violation } from '../values.ts';
import { issueKey } from './issue-key.ts';

const mediaTypePart = '[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}';
const mediaType = `${mediaTypePart}/${mediaTypePart}`;
const mediaRange = String.raw`(?:\*/\*|${mediaTypePart}/(?:\*|${mediaTypePart}))`;
const attachmentId = pathId('attachment', 'attachment', 'The id of the attachment.');

/** GET /v1/issues/{issueKey}/attachments */
export const attachments = route({
  method: 'GET',
  path: '/v1/issues/{issueKey}/attachments',
  scope: 'issues:read',
  summary: 'Lists the attachments of an issue, oldest first.',
  parameters: {
    issueKey,
    ...page,
    content_type: mediaRangeOf(
      'Attachments of this media type, in upper or lower case and without parameters; `image/*` matches all images. Empty or `*/*` filters nothing.',
    ),
    created_by_user_account_id: id('user', 'Attachments that this account created.'),
  },
  operation: AttachmentsDocument,
  variables: (p) => ({
    key: p.issueKey,
    first: p.page_size,
    after: p.cursor,
    filter: {
      contentType: mediaTypeComparison(p.content_type),
      uploadedByUserAccountId: equals(p.created_by_user_account_id),
    },
  }),
  pick: 'issue.attachments',
  reply: list(attachment),
});

/** GET /v1/issues/{issueKey}/attachments/{attachmentId} */
export const attachmentById = route({
  method: 'GET',
  path: '/v1/issues/{issueKey}/attachments/{attachmentId}',
  scope: 'issues:read',
  summary: 'Reads an attachment of an issue.',
  parameters: { issueKey, attachmentId },
  operation: AttachmentDocument,
  variables: (p) => ({ key: p.issueKey, id: p.attachmentId }),
  pick: 'issue.attachments.nodes.0',
  reply: item(attachment),
});

/** GET /v1/issues/{issueKey}/attachments/{attachmentId}/content */
export const attachmentContent = route({
  method: 'GET',
  path: '/v1/issues/{issueKey}/attachments/{attachmentId}/content',
  scope: 'issues:read',
  summary: 'Redirects to the content of an attachment.',
  parameters: { issueKey, attachmentId },
  operation: AttachmentContentDocument,
  variables: (p) => ({ key: p.issueKey, id: p.attachmentId }),
  pick: 'issue.attachments.nodes.0.signedDownloadUrl',
  reply: redirect(),
});

/** GET /v1/issues/{issueKey}/attachments/{attachmentId}/preview */
export const attachmentPreview = route({
  method: 'GET',
  path: '/v1/issues/{issueKey}/attachments/{attachmentId}/preview',
  scope: 'issues:read',
  summary: 'Redirects to the preview of an attachment, if it has one.',
  parameters: { issueKey, attachmentId },
  operation: AttachmentPreviewDocument,
  variables: (p) => ({ key: p.issueKey, id: p.attachmentId }),
  pick: 'issue.attachments.nodes.0.signedPreviewUrl',
  reply: redirect(),
  notFoundMessage: 'There is no such issue or attachment, or the attachment has no preview.',
});

/** POST /v1/issues/{issueKey}/attachments, which the specification leaves open. */
export const attachmentCreate = route({
  method: 'POST',
  path: '/v1/issues/{issueKey}/attachments',
  scope: 'issues:write',
  summary:
    'Creates an attachment of an issue and returns the URL for the upload. The attachment can be read after the upload.',
  parameters: { issueKey },
  body: bodyOf({
    fileName: required(
      text('The name of the file, without a path or control characters.', {
        minLength: 1,
        maxLength: limits.fileName,
        trimmed: true,
        pattern: String.raw`^[\s\ufeff]*(?!\.{1,2}[\s\ufeff]*$)[^\s\ufeff/\\\x00-\x1f\x7f-\x9f][^/\\\x00-\x1f\x7f-\x9f]*$`,
      }),
    ),
    contentType: text('The media type, such as `image/png`; empty or left out when it is unknown.', {
      pattern: withParameters(mediaType),
    }),
    sizeBytes: required(
      integer(
        'The size in bytes. The upload must have the same size. The largest size is a setting of the server, 1 GiB by default.',
        { minimum: 0 },
      ),
    ),
  }),
  operation: AttachmentCreateDocument,
  variables: (p, { contentType = '', ...file }) => ({
    input: { issueKey: p.issueKey, contentType, ...file },
  }),
  pick: 'attachmentCreate',
  reply: createdAt(
    attachmentUpload,
    { path: '/v1/issues/{issueKey}/attachments/{attachmentId}', parameterValuePath: 'attachment.id' },
    'The attachment that was created, and the URL for its upload.',
  ),
});

/** The pattern of an optional media type, which may have parameters. */
function withParameters(type: string): string {
  return String.raw`^(?!\ufeff)[\s\ufeff]*(?:${type}[\s\ufeff]*)?(?:;[^\x00]*)?$`;
}

/**
 * Declares a media type or a range of them, as in an Accept header. Parameters are dropped, as they are from uploads.
 */
function mediaRangeOf(description: string): Value<string> {
  const source = withParameters(mediaRange);
  const whole = text(description, { maxLength: limits.mediaType, pattern: source });
  const pattern = new RegExp(source);
  return {
    ...whole,
    fromText: (input) => {
      const read = whole.fromText(input);
      if (!('value' in read)) return read;
      if (!pattern.test(read.value))
        return violation('must be a media type such as image/png, or a range such as image/*');
      return { value: read.value.replace(/;.*$/s, '').trim() };
    },
  };
}

function mediaTypeComparison(range = '') {
  if (range === '' || range === '*/*') return undefined;
  return range.endsWith('/*') ? { startsWith: range.slice(0, -1) } : { eq: range };
}
