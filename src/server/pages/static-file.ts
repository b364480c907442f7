import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { RestReply } from '../../rest-compat/face.ts';
import { type Coding, chooseCoding, compress } from '../http/compression.ts';
import type { ServerRequest } from '../http/request.ts';
import { once } from './once.ts';

/** Bytes that are the same for everybody, with what it costs to make once: the tag, and the forms that clients take. */
export interface StaticFile {
  readonly contentType: string;
  readonly bytes: Buffer;
  readonly tag: string;
  readonly coded: Map<Coding, Promise<Uint8Array>>;
}

/** Answers one path with a file. */
export type FileAnswer = (request: ServerRequest) => Promise<RestReply>;

const mediaTypes = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
type NamedFile = `${string}${keyof typeof mediaTypes}`;

/** A file of `assets`. */
export function ownAsset(name: NamedFile, headers: Readonly<Record<string, string>> = {}): FileAnswer {
  return fileAnswer(join(import.meta.dirname, 'assets', name), headers);
}

/** A file by its path, read when it is first asked for and never again. */
export function fileAnswer(path: string, headers: Readonly<Record<string, string>> = {}): FileAnswer {
  const contentType = mediaTypes[extname(path) as keyof typeof mediaTypes];
  const file = once(async () => staticFile(contentType, await readFile(path)));
  return async (request) => staticReply(request, await file(), headers);
}

/** Keeps what is given. */
export function staticFile(contentType: string, bytes: Buffer): StaticFile {
  const tag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 20)}"`;
  return { contentType, bytes, tag, coded: new Map() };
}

/** The file in a coding that the client takes. A browser keeps it, and asks each time with the tag. */
export async function staticReply(
  request: ServerRequest,
  { contentType, bytes, tag, coded }: StaticFile,
  given: Readonly<Record<string, string>>,
): Promise<RestReply> {
  const headers = { 'Content-Type': contentType, 'Cache-Control': 'no-cache', ETag: tag, ...given };
  const coding = chooseCoding(request.headers['accept-encoding'], { contentType, bytes: bytes.length });
  if (!coding) return { status: 200, headers, body: bytes };
  const made = coded.get(coding) ?? compress(coding, bytes);
  coded.set(coding, made);
  return { status: 200, headers: { ...headers, 'Content-Encoding': coding }, body: await made };
}
