import type { IncomingMessage } from 'node:http';
import type { AnswerHead } from './answer-head.ts';
import { chooseCoding, compress } from './compression.ts';
import { isNamed } from './preconditions.ts';

/**
 * Prepares the body of an answer for this client: compresses it if the client accepts that, or makes the answer a 304 without
 * a body if the client has it already. Tags are strong, so each coding has its own (RFC 9110, 8.8.3.3).
 */
export async function represent(
  head: AnswerHead,
  req: Pick<IncomingMessage, 'method' | 'headers'>,
  body: string | Uint8Array,
): Promise<Uint8Array | undefined> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  // The tag and the ranges refer to the uncompressed bytes, so these are not compressed.
  if (head.get('Accept-Ranges') === 'bytes') return bytes;
  const contentType = head.get('Content-Type') ?? '';
  // A compressed body is not changed.
  const existing = head.get('Content-Encoding');
  const chosen = existing
    ? undefined
    : chooseCoding(req.headers['accept-encoding'], { contentType, bytes: bytes.length });
  head.vary('Accept-Encoding');
  tagFor(head, chosen ?? existing);
  if (isKnown(head, req)) {
    head.status = 304;
    head.remove('Content-Type');
    head.remove('Content-Encoding');
    // The client has the links of the answer already (RFC 9110, 15.4.5).
    head.remove('Link');
    return undefined;
  }
  if (!chosen) return bytes;
  head.set('Content-Encoding', chosen);
  return compress(chosen, bytes);
}

function tagFor(head: AnswerHead, coding: string | undefined): void {
  const tag = head.get('ETag');
  if (coding === undefined || tag === undefined) return;
  head.set('ETag', tag.replace(/^"(.*)"$/, `"$1-${coding}"`));
}

/** Whether If-None-Match contains the tag of the answer. It applies only to reads. An invalid header does not. */
function isKnown(
  head: AnswerHead,
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
): boolean {
  const tag = head.get('ETag');
  const asked = headers['if-none-match'];
  if (asked === undefined || tag === undefined || head.status !== 200) return false;
  if (method !== 'GET' && method !== 'HEAD') return false;
  return isNamed(tag, asked, 'weak');
}
