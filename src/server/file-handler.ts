import { Readable } from 'node:stream';
import { nothingHere } from './http/reply.ts';
import type { AttachmentRow } from '../db/attachments.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { contentOf, previewOf, requireUploaded } from '../resolvers/attachments/attachment-downloads.ts';
import {
  receiveUpload,
  type SignedAttachment,
  startUpload,
} from '../resolvers/attachments/attachment-uploads.ts';
import { raise } from '../resolvers/errors.ts';
import { parseId } from '../resolvers/ids.ts';
import type { Disposition, FilePart, SignedAccess } from '../resolvers/attachments/signed-urls.ts';
import { isCompressed } from '../rest-compat/content-encoding.ts';
import type { HttpReply } from '../rest-compat/http-reply.ts';
import { problemReply } from '../rest-compat/problem.ts';
import { TimeoutError, withTimeout } from './limits/with-timeout.ts';
import { type Admissions, inPlaceOf } from './limits/workspace-shares.ts';
import { byteRange } from './http/byte-range.ts';
import { contentDisposition } from './http/content-disposition.ts';
import { isFile } from './http/cross-origin.ts';
import type { ServerFiles } from './open-files.ts';
import type { ServerRequest } from './http/request.ts';
import { allowsRange, evaluateRead } from './http/preconditions.ts';
import { openUpload } from './http/upload-body.ts';

/** The signed URLs of attachments, under /files. */
export interface FileHandler {
  /** Returns undefined if the path is not one of a file. Errors that it throws are answered as problems. */
  handle(request: ServerRequest, req: IncomingMessage, res: ServerResponse): Promise<HttpReply> | undefined;
}

/** What files are served from, and what admits the requests that look them up. */
interface FileParts {
  readonly files: ServerFiles;
  readonly admissions: Admissions;
}

/**
 * Serves downloads and uploads to clients with a signed URL. They are looked up in a place of their workspace, so that a flood of
 * requests leaves room for others. Their bytes then take as long as their client, or a slow store, without a place.
 */
export function createFileHandler(parts: FileParts): FileHandler {
  const { files } = parts;
  const filesHost = files.filesUrl && new URL(files.filesUrl).host;
  return {
    handle(request, req, res) {
      // With an origin for files, that origin serves nothing else, and no other origin serves files.
      const isElsewhere = filesHost !== undefined && (request.host === filesHost) !== isFile(request.path);
      if (isElsewhere) raise('not_found', nothingHere);
      return isFile(request.path) ? answer(parts, request, req, res) : undefined;
    },
  };
}

const methods: Readonly<Record<FilePart, readonly string[]>> = {
  content: ['GET', 'HEAD', 'PUT'],
  preview: ['GET', 'HEAD'],
};

async function answer(
  { files, admissions }: FileParts,
  request: ServerRequest,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<HttpReply> {
  const [, id = '', part] = /^\/files\/([^/]+)\/(content|preview)$/.exec(request.path) ?? [];
  const attachment = parseId(id);
  if (attachment?.prefix !== 'attachment' || (part !== 'content' && part !== 'preview'))
    return raise('not_found', nothingHere);
  const allow = [...methods[part], 'OPTIONS'].join(', ');
  const { method, requestId } = request;
  if (method === 'OPTIONS') return { status: 204, headers: { Allow: allow } };
  if (!methods[part].includes(method)) {
    const message = `This path supports ${allow}.`;
    return problemReply({ code: 'method_not_allowed', message }, requestId, { Allow: allow });
  }
  const context = request.uncountedContext();
  const access = signedAccess(request, part, attachment.uuid);
  const refusal = access ? signatureProblem(files, request, access, context.now) : 'The URL is not signed.';
  if (!access || refusal) {
    const headers = { 'WWW-Authenticate': 'Bearer realm="workgraph"' };
    return problemReply({ code: 'forbidden', message: refusal ?? '' }, requestId, headers);
  }
  const db = request.dataOf(access.workspaceId);
  const { workspaceId } = access;
  if (method !== 'PUT') {
    const attachment = await inPlaceOf(admissions, workspaceId, () => requireUploaded(db, access));
    return serve(attachment, files, request, access);
  }
  if (isCompressed(request.headers)) raise('unsupported_media_type', 'The bytes must be sent uncompressed.');
  const upload = openUpload(req, res, request.clientMs);
  const started = await inPlaceOf(admissions, workspaceId, () => startUpload(db, access, upload));
  await receiveUpload(db, files.store, started, upload, { requestId });
  request.noteWriteTo(workspaceId);
  return { status: 204 };
}

/** The access that the URL grants according to its query; undefined when a parameter is missing, repeated or unknown. */
function signedAccess(
  { method, query }: ServerRequest,
  part: FilePart,
  attachmentId: string,
): SignedAccess | undefined {
  const workspace = parseId(singleValue(query, 'workspace'));
  const disposition = dispositions.find((known) => known === singleValue(query, 'disposition'));
  if (workspace?.prefix !== 'workspace' || !disposition) return undefined;
  const workspaceId = workspace.uuid;
  return { method: method === 'PUT' ? 'PUT' : 'GET', part, workspaceId, attachmentId, disposition };
}

const dispositions: readonly Disposition[] = ['attachment', 'inline'];

/** Why the signature is refused; undefined when it is valid. */
function signatureProblem(
  { signer }: ServerFiles,
  { query }: ServerRequest,
  access: SignedAccess,
  now: Date,
): string | undefined {
  const expires = singleValue(query, 'expires');
  const expiresAtSeconds = /^[1-9]\d{0,11}$/.test(expires) ? Number(expires) : 0;
  const verdict = signer.verify(
    access,
    { expiresAtSeconds, signature: singleValue(query, 'signature') },
    now,
  );
  const reasons = {
    good: undefined,
    bad: 'The signature is invalid.',
    expired: 'The URL has expired.',
  };
  return reasons[verdict];
}

function singleValue(query: URLSearchParams, name: string): string {
  const [value = '', ...others] = query.getAll(name);
  return others.length > 0 ? '' : value;
}

/** The types that a browser may display. All others are downloads, whatever was signed; HTML and SVG could run scripts. */
const displayable: ReadonlySet<string> = new Set([
  'image/webp',
  'application/pdf',
  'text/plain; charset=utf-8',
]);

/**
 * The time that the store has to send the first bytes of a file, or of its preview, which may have to be drawn: this many times as long
 * as a client may be silent.
 */
const storeFactor = 3;

/** Throws `unavailable` when the store takes too long. What it opens after that is closed again. */
async function inStoreTime<Opened>(
  { clientMs }: Pick<ServerRequest, 'clientMs'>,
  opening: Promise<Opened>,
): Promise<Opened> {
  try {
    return await withTimeout(storeFactor * clientMs, opening, 'The store of the files');
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error;
    opening.then(
      (opened) => opened instanceof Readable && opened.destroy(),
      () => undefined,
    );
    return raise('unavailable', 'The store of the files does not answer; try again later.');
  }
}

async function serve(
  attachment: AttachmentRow,
  { store }: ServerFiles,
  request: ServerRequest,
  access: SignedAccess & SignedAttachment,
): Promise<HttpReply> {
  const { requestId, method } = request;
  const isContent = access.part === 'content';
  const file = isContent
    ? contentOf(store, attachment)
    : await inStoreTime(request, previewOf(store, attachment));
  const { sizeBytes, contentType } = file;
  const etag = `"${access.attachmentId}-${access.part}"`;
  const { headers: requestHeaders } = request;
  const commonHeaders = {
    'Content-Security-Policy': "sandbox; default-src 'none'; img-src 'self'; style-src 'unsafe-inline'",
    // Anyone with the signed URL may read the file, so pages of other sites may show it too.
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'Accept-Ranges': 'bytes',
    ETag: etag,
  };
  const verdict = evaluateRead(requestHeaders, etag);
  if (verdict === 'failed') raise('precondition_failed', 'If-Match does not name this file.');
  if (verdict === 'not modified') return { status: 304, headers: commonHeaders };
  // Range is defined only for GET (RFC 9110, 14.2).
  const isRanged = method === 'GET' && allowsRange(requestHeaders['if-range'], etag);
  const range = byteRange(isRanged ? requestHeaders.range : undefined, sizeBytes);
  if (range === 'unsatisfiable') {
    const failure = { code: 'range_not_satisfiable', message: `The file has ${sizeBytes} bytes.` } as const;
    return problemReply(failure, requestId, { 'Content-Range': `bytes */${sizeBytes}` });
  }
  const length = range ? range.end - range.start + 1 : sizeBytes;
  const inline = access.disposition === 'inline' && access.part === 'preview' && displayable.has(contentType);
  const headers = {
    'Content-Type': contentType,
    'Content-Length': String(length),
    'Content-Disposition': contentDisposition(inline ? 'inline' : 'attachment', file.fileName),
    ...commonHeaders,
    ...(range && { 'Content-Range': `bytes ${range.start}-${range.end}/${sizeBytes}` }),
  };
  const status = range ? 206 : 200;
  if (method === 'HEAD' || length === 0) return { status, headers };
  return { status, headers, body: await inStoreTime(request, file.open(range)) };
}
