import { randomBytes } from 'node:crypto';
import type { App } from '../support/app.ts';
import { issueWorld } from '../support/issue-world.ts';

/** The fields of an attachment that are selected. */
const fields = `id fileName contentType sizeBytes uploadedUtc uploadedByUserAccountId downloadUrl previewUrl previewKind
  isPreviewAvailable codeLanguage signedDownloadUrl signedPreviewUrl revision`;

export interface AttachmentRead {
  id: string;
  revision: number;
  fileName: string;
  contentType: string;
  sizeBytes: number;
  uploadedUtc: string | null;
  uploadedByUserAccountId: string;
  previewKind: string;
  isPreviewAvailable: boolean;
  codeLanguage: string | null;
  downloadUrl: string;
  previewUrl: string;
  signedDownloadUrl: string | null;
  signedPreviewUrl: string | null;
}

export interface Announced {
  attachment: AttachmentRead;
  uploadUrl: string;
  expiresUtc: string;
}

export interface Named {
  issueKey: string;
  fileName: string;
  contentType: string;
  sizeBytes: number;
}

/** An issue, with helpers for its attachments. */
export interface FileDesk {
  issueKey: string;
  /** The token of a member, with all scopes. */
  token: string;
  create(named?: Partial<Named>): Promise<Announced>;
  /** Creates an attachment that must be refused, and returns the errors. */
  refused(named: Partial<Named>, token?: string): Promise<{ code: string; errors: readonly unknown[] }>;
  /** Creates an attachment and uploads its bytes. */
  attach(fileName: string, contentType: string, bytes: Uint8Array): Promise<AttachmentRead>;
  list(token?: string): Promise<AttachmentRead[]>;
  remove(id: string, expectedRevision?: number): Promise<void>;
}

export async function fileDesk(app: App): Promise<FileDesk> {
  const world = await issueWorld(app);
  const { token } = world.ada;
  const ask = async (query: string, variables: Record<string, unknown>, by = token) => {
    const { body } = await app.graphql<Record<string, never>>(query, variables, { token: by });
    return body;
  };
  const created = await ask(
    'mutation ($input: IssueCreateInput!) { issueCreate(input: $input) { issue { key } } }',
    { input: { teamId: world.eng.id, title: 'Files' } },
  );
  const issueKey = (created.data as unknown as { issueCreate: { issue: { key: string } } }).issueCreate.issue
    .key;
  const creation = (named: Partial<Named>, by?: string) =>
    ask(
      `mutation ($input: AttachmentCreateInput!) {
        attachmentCreate(input: $input) { attachment { ${fields} } uploadUrl expiresUtc } }`,
      {
        input: {
          issueKey,
          fileName: 'a.bin',
          contentType: 'application/octet-stream',
          sizeBytes: 5,
          ...named,
        },
      },
      by,
    );
  const desk: FileDesk = {
    issueKey,
    token,
    create: async (named = {}) => {
      const { data, errors } = await creation(named);
      if (errors) throw new Error(JSON.stringify(errors));
      return (data as unknown as { attachmentCreate: Announced }).attachmentCreate;
    },
    refused: async (named, by) => {
      const { errors } = await creation(named, by);
      const [error] = errors ?? [];
      if (!error) throw new Error('attachmentCreate was not refused');
      const { code, errors: violations } = error.extensions as unknown as {
        code: string;
        errors?: unknown[];
      };
      return { code, errors: violations ?? [] };
    },
    attach: async (fileName, contentType, bytes) => {
      const { attachment, uploadUrl } = await desk.create({ fileName, contentType, sizeBytes: bytes.length });
      const response = await put(uploadUrl, bytes);
      if (response.status !== 204) throw new Error(`${response.status}: ${await response.text()}`);
      const found = (await desk.list()).find(({ id }) => id === attachment.id);
      if (!found) throw new Error('The attachment is not shown.');
      return found;
    },
    list: async (by) => {
      const { data, errors } = await ask(
        `query ($key: String!) { issue(key: $key) { attachments(first: 100) { nodes { ${fields} } } } }`,
        { key: issueKey },
        by,
      );
      if (errors) throw new Error(JSON.stringify(errors));
      return (data as unknown as { issue: { attachments: { nodes: AttachmentRead[] } } }).issue.attachments
        .nodes;
    },
    remove: async (id, expectedRevision) => {
      const { errors } = await ask(
        'mutation ($input: AttachmentDeleteInput!) { attachmentDelete(input: $input) { deletedAttachmentId issue { key } } }',
        { input: { id, expectedRevision } },
      );
      if (errors) throw new Error(JSON.stringify(errors));
    },
  };
  return desk;
}

export async function put(
  url: string,
  bytes: Uint8Array,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url, { method: 'PUT', body: bytes as BodyInit, headers });
}

export async function bytesOf(url: string | null, headers: Record<string, string> = {}): Promise<Buffer> {
  const response = await fetch(url ?? '', { headers });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return Buffer.from(await response.arrayBuffer());
}

/** The status and the code of a problem. */
export async function problemOf(response: Response): Promise<[status: number, code: string]> {
  const { code } = (await response.json()) as { code: string };
  return [response.status, code];
}

export function random(sizeBytes: number): Buffer<ArrayBuffer> {
  return Buffer.from(randomBytes(sizeBytes));
}
