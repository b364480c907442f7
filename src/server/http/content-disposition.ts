import contentDispositionOf from 'content-disposition';
import type { Disposition } from '../../resolvers/attachments/signed-urls.ts';

/** The header that names a file: in ASCII for old clients, and in full for all others (RFC 6266, RFC 8187). */
export function contentDisposition(disposition: Disposition, fileName: string): string {
  const fallback = fileName.replace(/[^ -~]|["%\\]/gu, '_');
  return contentDispositionOf(fileName.toWellFormed(), { type: disposition, fallback });
}
