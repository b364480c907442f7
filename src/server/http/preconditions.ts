import type { IncomingHttpHeaders } from 'node:http';
import { readEntityTags } from '../../rest-compat/entity-tags.ts';

/**
 * Judges the preconditions of a read whose answer would have this strong tag (RFC 9110, 13.2.2): If-Match first, then
 * If-None-Match. The times of If-Modified-Since and If-Unmodified-Since are ignored, since no answer has a Last-Modified.
 */
export function judgeRead(
  { 'if-match': ifMatch, 'if-none-match': ifNoneMatch }: IncomingHttpHeaders,
  etag: string,
): 'holds' | 'failed' | 'not modified' {
  if (ifMatch !== undefined && !isNamed(etag, ifMatch, 'strong')) return 'failed';
  return ifNoneMatch !== undefined && isNamed(etag, ifNoneMatch, 'weak') ? 'not modified' : 'holds';
}

/** Does a list of tags, or `*`, name this strong tag (RFC 9110, 8.8.3.2); a header that is neither does not. */
export function isNamed(etag: string, header: string, comparison: 'strong' | 'weak'): boolean {
  const tags = readEntityTags(header);
  if (tags === '*') return true;
  return (
    tags?.some(({ weak, opaque }) => `"${opaque}"` === etag && !(weak && comparison === 'strong')) ?? false
  );
}

/** May a range be sent although If-Range came along: only when it is this tag. A time never is, for want of a Last-Modified. */
export function allowsRange(ifRange: IncomingHttpHeaders['if-range'], etag: string): boolean {
  return ifRange === undefined || ifRange === etag;
}
