import type { IncomingMessage } from 'node:http';
import { AnswerHead } from './answer-head.ts';
import type { EarlierAnswer } from '../../executor/answers/revalidation.ts';
import { chooseCoding, type Coding, compress, compressOnce } from './compression.ts';
import { containsTag } from './preconditions.ts';

/**
 * Prepares the body of an answer for this client: compresses it if the client accepts that, or makes the answer a 304 without
 * a body if the client has it already. Tags are strong, so each coding has its own (RFC 9110, 8.8.3.3). `isConstant` is that of the
 * reply.
 */
export async function represent(
  head: AnswerHead,
  req: Pick<IncomingMessage, 'method' | 'headers'>,
  body: string | Uint8Array,
  isConstant = false,
): Promise<Uint8Array | undefined> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  // The tag and the ranges refer to the uncompressed bytes, so these are not compressed.
  if (head.get('Accept-Ranges') === 'bytes') return bytes;
  const coding = chooseRepresentation(head, req, bytes.length);
  if (coding === 'known') return undefined;
  if (!coding) return bytes;
  head.set('Content-Encoding', coding);
  return isConstant ? compressOnce(coding, bytes) : compress(coding, bytes);
}

/**
 * Chooses the coding of a body of this length, whose tag the answer then has. If the client knows this tag already, the answer
 * becomes a 304.
 */
export function chooseRepresentation(
  head: AnswerHead,
  req: Pick<IncomingMessage, 'method' | 'headers'>,
  bytes: number,
): Coding | 'known' | undefined {
  // A compressed body is not changed.
  const existing = head.get('Content-Encoding');
  const coding = existing ? undefined : codingFor(head.get('Content-Type'), req, bytes);
  head.vary('Accept-Encoding');
  const tag = head.get('ETag');
  if (tag !== undefined) head.set('ETag', codedTag(tag, coding ?? existing));
  if (head.status !== 200 || !isKnown(head.get('ETag'), req)) return coding;
  head.status = 304;
  head.remove('Content-Type');
  head.remove('Content-Encoding');
  // The client has the links of the answer already (RFC 9110, 15.4.5).
  head.remove('Link');
  return 'known';
}

/** Whether the client has a body with these headers, in the coding that it accepts now. */
export function hasAnswer(
  req: Pick<IncomingMessage, 'method' | 'headers'>,
  { headers, bytes }: EarlierAnswer,
): boolean {
  const head = new AnswerHead(200);
  head.add(headers);
  return chooseRepresentation(head, req, bytes) === 'known';
}

function codingFor(
  contentType = '',
  { headers }: Pick<IncomingMessage, 'headers'>,
  bytes: number,
): Coding | undefined {
  return chooseCoding(headers['accept-encoding'], { contentType, bytes });
}

function codedTag(tag: string, coding: string | undefined): string {
  return coding === undefined ? tag : tag.replace(/^"(.*)"$/, `"$1-${coding}"`);
}

/** Whether If-None-Match contains the tag of the answer. It applies only to reads. An invalid header contains no tag. */
function isKnown(
  tag: string | undefined,
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
): boolean {
  const ifNoneMatch = headers['if-none-match'];
  if (ifNoneMatch === undefined || tag === undefined) return false;
  if (method !== 'GET' && method !== 'HEAD') return false;
  return containsTag(tag, ifNoneMatch, 'weak');
}
