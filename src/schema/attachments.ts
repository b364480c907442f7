import { signedDownloadUrl, signedPreviewUrl } from '../resolvers/attachments/attachments.ts';
import { encodeId } from '../resolvers/ids.ts';
import { issueKey } from '../resolvers/keys.ts';
import { issueNotDeleted } from './activity.ts';
import { type Entity, entity } from './builder/entity.ts';
import { PreviewKind } from './builder/enums.ts';
import { via } from './builder/references.ts';
import { Issue } from './issues.ts';
import { Member } from './members.ts';
import { Team } from './teams.ts';

export const Attachment: Entity<'attachment'> = entity('Attachment', {
  table: 'attachment',
  prefix: 'attachment',
  singular: 'attachment',
  plural: 'attachments',
  description: 'A file that is attached to an issue.',
  scope: 'issues:read',
  fieldScope: ['issues:read', 'issues:write'],
  where: {
    all: [
      { column: 'deletedUtc', isNull: true },
      { column: 'uploadedUtc', isNull: false },
    ],
  },
  parentWhere: issueNotDeleted,
  orders: { CREATED: { column: 'uploadedUtc', kind: 'time', nullable: true } },
  defaultOrder: { field: 'CREATED', direction: 'asc' },
  filter: (f) => ({
    id: f.id('attachment'),
    contentType: f.text('contentType', 'lower'),
    uploadedByUserAccountId: f.id('user', 'uploadedByUserAccountId'),
    uploadedUtc: f.time('uploadedUtc'),
  }),
});

const keyedIssue = () =>
  via(Issue, 'issueId', ['number'], { nested: { team: via(Team, 'teamId', ['code']) } });

function attachmentPath(id: string, issue: { number: number; team?: { code: string } } | undefined): string {
  return `/v1/issues/${issueKey(issue?.team?.code ?? '', issue?.number ?? 0)}/attachments/${encodeId('attachment', id)}`;
}

Attachment.implement((t) => ({
  issueId: t.idOf('issue', 'issueId', { description: 'The issue that it is attached to.' }),
  issue: t.reference(Issue, 'issueId', {
    scope: 'issues:read',
    description: 'The issue that it is attached to.',
  }),
  fileName: t.exposeString('fileName', { description: 'The name of the file.' }),
  contentType: t.exposeString('contentType', { description: 'The media type of the file, in lower case.' }),
  sizeBytes: t.exposeInt('sizeBytes', { description: 'The size of the file in bytes.' }),
  uploadedByUserAccountId: t.idOf('user', 'uploadedByUserAccountId', {
    description: 'The account that uploaded it.',
  }),
  uploadedBy: t.reference(Member, 'uploadedByUserAccountId', {
    by: 'userAccountId',
    description: 'The member who uploaded it.',
  }),
  uploadedUtc: t.expose('uploadedUtc', {
    type: 'DateTime',
    nullable: true,
    description:
      'When the file was uploaded. It is null only in the response to `attachmentCreate`, before the bytes have arrived.',
  }),
  downloadUrl: t.computed({
    type: 'URL',
    columns: ['id'],
    references: { issue: keyedIssue() },
    compute: ({ id }, { issue }) => `${attachmentPath(id, issue)}/content`,
    description: 'The path of the content in the REST API, which redirects to a signed URL.',
  }),
  previewUrl: t.computed({
    type: 'URL',
    columns: ['id'],
    references: { issue: keyedIssue() },
    compute: ({ id }, { issue }) => `${attachmentPath(id, issue)}/preview`,
    description: 'The path of the preview in the REST API; the response is 404 if there is none.',
  }),
  signedDownloadUrl: t.computedForViewer({
    type: 'URL',
    nullable: true,
    scope: 'issues:read',
    columns: ['workspaceId', 'id', 'uploadedUtc'],
    compute: (row, _references, ctx) => signedDownloadUrl(ctx, row),
    description:
      'A URL that returns the bytes without an access token, for five minutes; null before the bytes have arrived, or if this server stores no files.',
  }),
  signedPreviewUrl: t.computedForViewer({
    type: 'URL',
    nullable: true,
    scope: 'issues:read',
    columns: ['workspaceId', 'id', 'uploadedUtc', 'previewKind'],
    compute: (row, _references, ctx) => signedPreviewUrl(ctx, row),
    description:
      'A URL that returns the preview without an access token, for five minutes; null if there is none.',
  }),
  isPreviewAvailable: t.computed({
    type: 'Boolean',
    columns: ['previewKind'],
    compute: ({ previewKind }) => previewKind !== 0,
    description: 'Whether there is a preview.',
  }),
  previewKind: t.expose('previewKind', { type: PreviewKind, description: 'The kind of preview.' }),
  codeLanguage: t.exposeString('codeLanguage', {
    nullable: true,
    description: 'The programming language, if the file is source code.',
  }),
  revision: t.exposeInt('revision', {
    description:
      'The number of uploads that were started, including the first (`attachmentCreate`); for optimistic locking (`expectedRevision`).',
  }),
}));
