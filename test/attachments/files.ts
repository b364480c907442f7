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

/** What attachmentCreate returns: the attachment, whose bytes are yet to be sent to `uploadUrl`. */
export interface CreatedAttachment {
  attachment: AttachmentRead;
  uploadUrl: string;
  expiresUtc: string;
}

/** The input of attachmentCreate. */
export interface CreateInput {
  issueKey: string;
  fileName: string;
  contentType: string;
  sizeBytes: number;
}

/** Sends requests for the attachments of one issue, with the token of a member. */
export interface AttachmentCaller {
  issueKey: string;
  /** The token of a member, with all scopes. */
  token: string;
  create(input?: Partial<CreateInput>): Promise<CreatedAttachment>;
  /** Creates an attachment that must be refused, and returns the errors. */
  refusalOf(
    input: Partial<CreateInput>,
    token?: string,
  ): Promise<{ code: string; errors: readonly unknown[] }>;
  /** Creates an attachment and uploads its bytes. */
  attach(fileName: string, contentType: string, bytes: Uint8Array): Promise<AttachmentRead>;
  list(token?: string): Promise<AttachmentRead[]>;
  remove(id: string, expectedRevision?: number): Promise<void>;
}

/** Creates an issue in a new world, and a caller for its attachments. */
export async function newAttachmentCaller(app: App): Promise<AttachmentCaller> {
  const world = await issueWorld(app);
  const { token } = world.ada;
  const send = async (query: string, variables: Record<string, unknown>, by = token) => {
    const { body } = await app.graphql<Record<string, never>>(query, variables, { token: by });
    return body;
  };
  const created = await send(
    'mutation ($input: IssueCreateInput!) { issueCreate(input: $input) { issue { key } } }',
    { input: { teamId: world.eng.id, title: 'Files' } },
  );
  const issueKey = (created.data as unknown as { issueCreate: { issue: { key: string } } }).issueCreate.issue
    .key;
  const sendCreate = (input: Partial<CreateInput>, by?: string) =>
    send(
      `mutation ($input: AttachmentCreateInput!) {
        attachmentCreate(input: $input) { attachment { ${fields} } uploadUrl expiresUtc } }`,
      {
        input: {
          issueKey,
          fileName: 'a.bin',
          contentType: 'application/octet-stream',
          sizeBytes: 5,
          ...input,
        },
      },
      by,
    );
  const caller: AttachmentCaller = {
    issueKey,
    token,
    create: async (input = {}) => {
      const { data, errors } = await sendCreate(input);
      if (errors) throw new Error(JSON.stringify(errors));
      return (data as unknown as { attachmentCreate: CreatedAttachment }).attachmentCreate;
    },
    refusalOf: async (input, by) => {
      const { errors } = await sendCreate(input, by);
      const [error] = errors ?? [];
      if (!error) throw new Error('attachmentCreate was not refused');
      const { code, errors: violations } = error.extensions as unknown as {
        code: string;
        errors?: unknown[];
      };
      return { code, errors: violations ?? [] };
    },
    attach: async (fileName, contentType, bytes) => {
      const { attachment, uploadUrl } = await caller.create({
        fileName,
        contentType,
        sizeBytes: bytes.length,
      });
      const response = await put(uploadUrl, bytes);
      if (response.status !== 204) throw new Error(`${response.status}: ${await response.text()}`);
      const found = (await caller.list()).find(({ id }) => id === attachment.id);
      if (!found) throw new Error('The attachment is not shown.');
      return found;
    },
    list: async (by) => {
      const { data, errors } = await send(
        `query ($key: String!) { issue(key: $key) { attachments(first: 100) { nodes { ${fields} } } } }`,
        { key: issueKey },
        by,
      );
      if (errors) throw new Error(JSON.stringify(errors));
      return (data as unknown as { issue: { attachments: { nodes: AttachmentRead[] } } }).issue.attachments
        .nodes;
    },
    remove: async (id, expectedRevision) => {
      const { errors } = await send(
        'mutation ($input: AttachmentDeleteInput!) { attachmentDelete(input: $input) { deletedAttachmentId issue { key } } }',
        { input: { id, expectedRevision } },
      );
      if (errors) throw new Error(JSON.stringify(errors));
    },
  };
  return caller;
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
