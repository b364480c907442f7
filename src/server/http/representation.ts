import type { IncomingMessage } from 'node:http';
import type { AnswerHead } from './answer-head.ts';
import { chooseCoding, compress } from './compression.ts';
import { isNamed } from './preconditions.ts';

/**
 * Turns the whole body of an answer, whose head says all else, into what this client gets of it: in a coding that it
 * takes, or nothing but 304 when it has it. A tag is strong, so each coding has its own (RFC 9110, 8.8.3.3).
 */
export async function represent(
  head: AnswerHead,
  req: Pick<IncomingMessage, 'method' | 'headers'>,
  body: string | Uint8Array,
): Promise<Uint8Array | undefined> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  // A range is of the bytes that its tag names: compressing them afterwards would change both.
  if (head.get('Accept-Ranges') === 'bytes') return bytes;
  const contentType = head.get('Content-Type') ?? '';
  // Who has compressed the body already has chosen for the client.
  const given = head.get('Content-Encoding');
  const chosen = given
    ? undefined
    : chooseCoding(req.headers['accept-encoding'], { contentType, bytes: bytes.length });
  head.vary('Accept-Encoding');
  tagFor(head, chosen ?? given);
  if (isKnown(head, req)) {
    head.status = 304;
    head.remove('Content-Type');
    head.remove('Content-Encoding');
    // Who has the answer has its links (RFC 9110, 15.4.5).
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

/** Does an If-None-Match, which is looked at on reads alone, name the answer; a header that cannot be read does not. */
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
