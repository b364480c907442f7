import type { IncomingHttpHeaders } from 'node:http';
import { readEntityTags } from '../../rest-compat/entity-tags.ts';

/**
 * Evaluates the preconditions of a read whose answer has this strong tag (RFC 9110, 13.2.2): If-Match first, then If-None-Match.
 * If-Modified-Since and If-Unmodified-Since are ignored, because no answer has a Last-Modified.
 */
export function evaluateRead(
  { 'if-match': ifMatch, 'if-none-match': ifNoneMatch }: IncomingHttpHeaders,
  etag: string,
): 'holds' | 'failed' | 'not modified' {
  if (ifMatch !== undefined && !containsTag(etag, ifMatch, 'strong')) return 'failed';
  return ifNoneMatch !== undefined && containsTag(etag, ifNoneMatch, 'weak') ? 'not modified' : 'holds';
}

/** Whether the header, a list of tags or `*`, contains this strong tag (RFC 9110, 8.8.3.2). An invalid header contains none. */
export function containsTag(etag: string, header: string, comparison: 'strong' | 'weak'): boolean {
  const tags = readEntityTags(header);
  if (tags === '*') return true;
  return (
    tags?.some(({ weak, opaque }) => `"${opaque}"` === etag && !(weak && comparison === 'strong')) ?? false
  );
}

/** Whether If-Range allows a range to be sent: only if it is this tag. A time never does, because there is no Last-Modified. */
export function allowsRange(ifRange: IncomingHttpHeaders['if-range'], etag: string): boolean {
  return ifRange === undefined || ifRange === etag;
}
