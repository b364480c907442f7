import type { ByteRange } from '../../storage/storage.ts';

/**
 * Reads a `Range` header (RFC 9110, 14.1.2). Returns undefined for the whole file, which also answers a request for several
 * ranges and a header that cannot be read, and 'unsatisfiable' when the file has none of the requested bytes. Decision 28
 * says why no library does this.
 */
export function byteRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  const start = first === '' ? Math.max(0, sizeBytes - Number(last)) : Number(first);
  const end = first === '' || last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
  return start > end ? 'unsatisfiable' : { start, end };
}
