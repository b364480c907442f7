import {
  type AttachmentRow,
  markAttachmentDeleted,
  insertAttachment,
  selectAttachment,
} from '../../db/attachments.ts';
import type { IssueRow } from '../../db/issues.ts';
import { previewKind } from '../../model/codes.ts';
import { logEvents } from '../changes/log-events.ts';
import type { Context } from '../context.ts';
import { raise, Violations } from '../errors.ts';
import type { RequestFiles } from './files.ts';
import { mediaTypeOf } from './media-types.ts';
import { newUuid } from '../ids.ts';
import { lockIssueOf, lockExistingIssue } from '../issues/issue-locks.ts';
import { requireIssue } from '../issues/issue-names.ts';
import { raiseNotFound } from '../not-found.ts';
import { requireResourceRevision, type RevisedResource } from '../writes/revisions.ts';
import type { SignedAccess } from './signed-urls.ts';
import { requireContributor } from '../writes/write-access.ts';
import { limits } from '../../model/limits.ts';
import { wholeNumberRule } from '../../model/sentences.ts';
import { checkText } from '../writes/write-rules.ts';
import { serialKeys } from '../writes/serial-queue.ts';
import { write } from '../writes/write-transaction.ts';

export interface AttachmentCreateInput {
  /** A key or an id. */
  issueKey: string;
  fileName: string;
  contentType: string;
  sizeBytes: number;
}

/** An attachment without its bytes yet, and the URL to upload them to. */
export interface AnnouncedAttachment {
  attachment: AttachmentRow;
  issue: IssueRow;
  uploadUrl: string;
  expiresUtc: Date;
}

/** Announces a file. The attachment is not visible before its bytes have been uploaded. */
export async function createAttachment(
  ctx: Context,
  input: AttachmentCreateInput,
): Promise<AnnouncedAttachment> {
  const context = requireContributor(ctx);
  const { workspaceId, userAccountId } = context.principal;
  const files = ctx.files ?? raise('unavailable', 'This server does not store files.');
  const columns = parseFile(input, files.limitBytes);
  const { attachment, issue } = await write(
    context,
    serialKeys.issue(workspaceId, input.issueKey),
    async (trx) => {
      const named = await requireIssue(trx, input.issueKey);
      const { issue, nowUtc } = await lockExistingIssue(trx, named.id);
      const attachment = await insertAttachment(trx, {
        id: newUuid(nowUtc.getTime()),
        issueId: named.id,
        ...columns,
        uploadedByUserAccountId: userAccountId,
        createdUtc: nowUtc,
      });
      return { attachment, issue };
    },
  );
  const access = { method: 'PUT', part: 'content', disposition: 'attachment' } as const;
  const { url, expiresUtc } = signedUrl(files, attachment, access, ctx.now);
  return { attachment, issue, uploadUrl: url, expiresUtc };
}

/** Deletes an attachment, or cancels an upload. */
export async function deleteAttachment(
  ctx: Context,
  input: RevisedResource,
): Promise<{ id: string; issue: IssueRow }> {
  const context = requireContributor(ctx);
  return write(context, undefined, async (trx) => {
    const { resource, issue, nowUtc } = await lockIssueOf(trx, 'attachment', input, selectAttachment);
    await requireResourceRevision(trx, 'attachment', resource, input.expectedRevision);
    const { id } = resource;
    const deleted = (await markAttachmentDeleted(trx, id, nowUtc)) ?? raiseNotFound('attachment');
    // Nobody else could see an attachment without bytes, so its deletion is no event. `resource` was read before the
    // lock, so its `uploadedUtc` may be out of date.
    if (deleted.wasUploaded) {
      const { requestId, principal } = context;
      const event = { eventType: 'issue-attachment.deleted.v1', subjectId: id, issue } as const;
      await logEvents(trx, [event], {
        origin: 'request',
        occurredUtc: nowUtc,
        userAccountId: principal.userAccountId,
        requestId,
      });
    }
    return { id, issue };
  });
}

/** The URL from which anyone who has it can download the bytes of an attachment, for five minutes. */
export function signedDownloadUrl(ctx: Context, attachment: StoredAttachment): string | null {
  if (!ctx.files || !attachment.uploadedUtc) return null;
  const access = { method: 'GET', part: 'content', disposition: 'attachment' } as const;
  return signedUrl(ctx.files, attachment, access, ctx.now).url;
}

/** The URL of the preview for five minutes; null if the attachment has none. */
export function signedPreviewUrl(ctx: Context, attachment: StoredAttachment & PreviewOf): string | null {
  if (!ctx.files || !attachment.uploadedUtc || attachment.previewKind === previewKind.none) return null;
  const access = { method: 'GET', part: 'preview', disposition: 'inline' } as const;
  return signedUrl(ctx.files, attachment, access, ctx.now).url;
}

type StoredAttachment = Pick<AttachmentRow, 'workspaceId' | 'id' | 'uploadedUtc'>;
type PreviewOf = Pick<AttachmentRow, 'previewKind'>;

function signedUrl(
  { signer, baseUrl }: RequestFiles,
  { workspaceId, id }: StoredAttachment,
  access: Omit<SignedAccess, 'workspaceId' | 'attachmentId'>,
  now: Date,
): { url: string; expiresUtc: Date } {
  const { path, expiresUtc } = signer.sign({ ...access, workspaceId, attachmentId: id }, now);
  return { url: `${baseUrl}${path}`, expiresUtc };
}

function parseFile(
  input: AttachmentCreateInput,
  limitBytes: number,
): Pick<AttachmentRow, 'fileName' | 'contentType' | 'sizeBytes'> {
  const violations = new Violations();
  const fileName = input.fileName.trim();
  checkText(violations, 'fileName', input.fileName, { min: 1, max: limits.fileName, trimmed: true });
  violations.addUnless(!/[/\\]|^\.{1,2}$/.test(fileName), 'fileName', 'must be a name without a path');
  violations.addUnless(
    !/\p{Cc}/u.test(fileName.replaceAll('\0', '')),
    'fileName',
    'must not contain control characters',
  );
  const contentType = mediaTypeOf(input.contentType) ?? '';
  violations.addUnless(contentType !== '', 'contentType', 'must be a media type, such as image/png');
  const { sizeBytes } = input;
  violations.addUnless(sizeBytes >= 0, 'sizeBytes', wholeNumberRule(0));
  violations.addUnless(sizeBytes <= limitBytes, 'sizeBytes', `must be at most ${limitBytes}`);
  violations.throwIfAny();
  return { fileName, contentType, sizeBytes };
}
