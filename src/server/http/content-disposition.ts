import type { Disposition } from '../../resolvers/attachments/signed-urls.ts';

/** The header that names a file, for old readers in ASCII and for all others as it is (RFC 6266, RFC 8187). */
export function contentDisposition(disposition: Disposition, fileName: string): string {
  const plain = fileName.replace(/[^ -~]|["%\\]/gu, '_');
  const full = encodeURIComponent(fileName.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${disposition}; filename="${plain}"; filename*=UTF-8''${full}`;
}
