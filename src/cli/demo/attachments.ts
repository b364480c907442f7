import { previewKind } from '../../model/codes.ts';
import { attachmentBytes } from './attachment-bytes.ts';
import { later } from './calendar.ts';
import type { Scene } from './lifecycle.ts';
import { teamList } from './team-list.ts';
import { wasActive } from './world.ts';

interface File {
  name: string;
  extension: string;
  contentType: string;
  preview: keyof typeof previewKind;
  codeLanguage?: string;
}

/** One after the other in this order, so that the first few attachments show every kind of preview. */
const files: readonly File[] = [
  { name: 'screenshot', extension: 'png', contentType: 'image/png', preview: 'image' },
  { name: 'console', extension: 'log', contentType: 'text/plain', preview: 'text' },
  {
    name: 'reproduce',
    extension: 'ts',
    contentType: 'text/typescript',
    preview: 'code',
    codeLanguage: 'typescript',
  },
  { name: 'report', extension: 'pdf', contentType: 'application/pdf', preview: 'pdf' },
  { name: 'device-logs', extension: 'tar', contentType: 'application/x-tar', preview: 'none' },
  { name: 'sailings', extension: 'csv', contentType: 'text/csv', preview: 'text' },
  { name: 'mock-up', extension: 'png', contentType: 'image/png', preview: 'image' },
  { name: 'query', extension: 'sql', contentType: 'application/sql', preview: 'code', codeLanguage: 'sql' },
  { name: 'notes', extension: 'md', contentType: 'text/markdown', preview: 'text' },
  {
    name: 'response',
    extension: 'json',
    contentType: 'application/json',
    preview: 'code',
    codeLanguage: 'json',
  },
  {
    name: 'analysis',
    extension: 'py',
    contentType: 'text/x-python',
    preview: 'code',
    codeLanguage: 'python',
  },
];

/** Plans the attachments: on the first issues of every team, and here and there. */
export function planAttachments(scene: Scene): void {
  const { draft, random, agenda } = scene;
  const isEarly = draft.number <= 4 && draft.team.endedMs === undefined;
  const count = isEarly ? random.integer(1, 2) : Number(random.chance(0.08));
  const first = Object.keys(teamList).indexOf(draft.team.code) + 2 * draft.number;
  for (let index = 0; index < count; index += 1) {
    const file = files[(first + index) % files.length];
    if (file) agenda.add(later(draft.createdMs, random, 0.2, 3), (atMs) => attach(scene, atMs, file, index));
  }
}

function attach({ world, draft, record }: Scene, atMs: number, file: File, index: number): void {
  const actor = draft.reporter;
  if (!wasActive(actor, atMs)) return;
  const { contentType, codeLanguage = null } = file;
  const fileName = `${draft.team.code.toLowerCase()}-${draft.number}-${file.name}${index ? `-${index + 1}` : ''}.${file.extension}`;
  world.rows.attachment.push({
    workspaceId: world.workspaceId,
    id: world.ids.uuid(atMs),
    issueId: record.id,
    fileName,
    contentType,
    sizeBytes: attachmentBytes({ fileName }).length,
    uploadedByUserAccountId: actor.userAccountId,
    createdUtc: new Date(atMs - 2000),
    uploadedUtc: new Date(atMs),
    previewKind: previewKind[file.preview],
    codeLanguage,
    deletedUtc: null,
  });
  record.log(atMs, { eventType: 'issue-attachment.created.v1', actor, deed: `attached ${fileName}` });
}
