import type { IncomingHttpHeaders } from 'node:http';

/** Whether a body is compressed, which no API accepts. The names of codings are case-insensitive (RFC 9110, 8.4.1). */
export function isCompressed(headers: IncomingHttpHeaders): boolean {
  const coding = (headers['content-encoding'] ?? '').trim().toLowerCase();
  return coding !== '' && coding !== 'identity';
}
