import { signedDownloadUrl, signedPreviewUrl } from '../resolvers/attachments/attachments.ts';
import { encodeId } from '../resolvers/ids.ts';
import { issueKey } from '../resolvers/keys.ts';
import { livingIssue } from './activity.ts';
import { type Entity, entity } from './builder/entity.ts';
import { PreviewKind } from './builder/enums.ts';
import { via } from './builder/via.ts';
import { Issue } from './issues.ts';
import { Member } from './members.ts';
import { Team } from './teams.ts';

export const Attachment: Entity<'attachment'> = entity('Attachment', {
  table: 'attachment',
  prefix: 'attachment',
  singular: 'attachment',
  plural: 'attachments',
  description: 'A file on an issue.',
  scope: 'issues:read',
  fieldScope: ['issues:read', 'issues:write'],
  where: {
    all: [
      { column: 'deletedUtc', isNull: true },
      { column: 'uploadedUtc', isNull: false },
    ],
  },
  within: livingIssue,
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
  issueId: t.idOf('issue', 'issueId', { description: 'The issue that it is on.' }),
  issue: t.reference(Issue, 'issueId', { scope: 'issues:read', description: 'The issue that it is on.' }),
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
      'When it was uploaded; null in the answer to `attachmentCreate` alone, before its bytes are there.',
  }),
  downloadUrl: t.computed({
    type: 'URL',
    columns: ['id'],
    references: { issue: keyedIssue() },
    compute: ({ id }, { issue }) => `${attachmentPath(id, issue)}/content`,
    description: 'The path of its content on the REST face, which redirects to a signed address.',
  }),
  previewUrl: t.computed({
    type: 'URL',
    columns: ['id'],
    references: { issue: keyedIssue() },
    compute: ({ id }, { issue }) => `${attachmentPath(id, issue)}/preview`,
    description: 'The path of its preview on the REST face, which is 404 when there is none.',
  }),
  signedDownloadUrl: t.computedForViewer({
    type: 'URL',
    nullable: true,
    scope: 'issues:read',
    columns: ['workspaceId', 'id', 'uploadedUtc'],
    compute: (row, _references, ctx) => signedDownloadUrl(ctx, row),
    description:
      'An address that gives the bytes without a token, for five minutes. Null before they are there, or when this server keeps no files.',
  }),
  signedPreviewUrl: t.computedForViewer({
    type: 'URL',
    nullable: true,
    scope: 'issues:read',
    columns: ['workspaceId', 'id', 'uploadedUtc', 'previewKind'],
    compute: (row, _references, ctx) => signedPreviewUrl(ctx, row),
    description:
      'An address that shows the preview without a token, for five minutes. Null when there is none.',
  }),
  isPreviewAvailable: t.computed({
    type: 'Boolean',
    columns: ['previewKind'],
    compute: ({ previewKind }) => previewKind !== 0,
    description: 'Is there a preview.',
  }),
  previewKind: t.expose('previewKind', { type: PreviewKind, description: 'What kind of preview there is.' }),
  codeLanguage: t.exposeString('codeLanguage', {
    nullable: true,
    description: 'The language of its code, when it is code.',
  }),
  revision: t.exposeInt('revision', {
    description:
      'Counts the uploads that were begun, the announcement too: what optimistic locking compares.',
  }),
}));
