import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { HttpReply } from '../../rest-compat/http-reply.ts';
import type { ServerRequest } from '../http/request.ts';
import { once } from './once.ts';

/** A file that is the same for every client. Its tag is created once. */
export interface StaticFile {
  readonly contentType: string;
  readonly bytes: Buffer;
  readonly tag: string;
}

/** Serves a file at one path. */
export type FileAnswer = (request: ServerRequest) => Promise<HttpReply>;

const mediaTypes = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
type NamedFile = `${string}${keyof typeof mediaTypes}`;

/** A file of `assets`. */
export function ownAsset(name: NamedFile): FileAnswer {
  return fileAnswer(join(import.meta.dirname, 'assets', name));
}

/** A file by its path. It is read only once, with the first request. */
export function fileAnswer(path: string, headers: Readonly<Record<string, string>> = {}): FileAnswer {
  const contentType = mediaTypes[extname(path) as keyof typeof mediaTypes];
  const file = once(async () => staticFile(contentType, await readFile(path)));
  return async () => staticReply(await file(), headers);
}

/** A page that is the same for every client. Its HTML is made once, with the first request. */
export function pageAnswer(html: () => string, policy: string): FileAnswer {
  const file = once(async () => staticFile(mediaTypes['.html'], Buffer.from(html())));
  return async () => staticReply(await file(), { 'Content-Security-Policy': policy });
}

/** A file whose text is made once, with the first request. */
export function textAnswer(extension: keyof typeof mediaTypes, text: () => string): FileAnswer {
  const file = once(async () => staticFile(mediaTypes[extension], Buffer.from(text())));
  return async () => staticReply(await file(), {});
}

/** A file with this content. */
export function staticFile(contentType: string, bytes: Buffer): StaticFile {
  const tag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 20)}"`;
  return { contentType, bytes, tag };
}

/** The reply with a file. Browsers cache it, and check the tag each time. */
export function staticReply(
  { contentType, bytes, tag }: StaticFile,
  extraHeaders: Readonly<Record<string, string>>,
): HttpReply {
  const headers = { 'Content-Type': contentType, 'Cache-Control': 'no-cache', ETag: tag, ...extraHeaders };
  return { status: 200, headers, body: bytes, isConstant: true };
}
