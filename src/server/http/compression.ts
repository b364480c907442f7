import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { codingNegotiator } from './negotiation.ts';

/** A content coding that answers are sent in. */
export type Coding = 'br' | 'gzip';

/** A smaller answer fits into one packet, compressed or not. */
const worthwhileBytes = 1_024;

const compressible = /\b(?:json|javascript|xml)\b|^text\//;

const acceptedCodings = codingNegotiator(['br', 'gzip', 'x-gzip', 'identity']);

/**
 * The coding to compress an answer with. Undefined when the answer is sent as it is, which it also is when the client accepts
 * none of our codings: the request has been carried out by then (RFC 9110, 12.5.3).
 */
export function chooseCoding(
  acceptEncoding: string | undefined,
  { contentType, bytes }: { contentType: string; bytes: number },
): Coding | undefined {
  if (bytes === 0 || acceptEncoding === undefined || !compressible.test(contentType)) return undefined;
  const accepted = acceptedCodings(acceptEncoding);
  const [best = 'identity'] = accepted;
  if (best === 'identity' || (bytes < worthwhileBytes && accepted.includes('identity'))) return undefined;
  return best === 'br' ? 'br' : 'gzip';
}

/** Compresses on a thread of the thread pool. Higher levels take more time than the smaller answer saves. */
export async function compress(coding: Coding, bytes: Uint8Array): Promise<Uint8Array> {
  if (coding === 'gzip') return gzipAsync(bytes, { level: constants.Z_BEST_SPEED });
  return brotliAsync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 4,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
}

/** Compresses a buffer that does not change, once for all answers in which it is sent. */
export function compressOnce(coding: Coding, bytes: Uint8Array): Promise<Uint8Array> {
  let byCoding = compressed.get(bytes);
  if (!byCoding) compressed.set(bytes, (byCoding = new Map()));
  let result = byCoding.get(coding);
  if (!result) byCoding.set(coding, (result = compress(coding, bytes)));
  return result;
}

const compressed = new WeakMap<Uint8Array, Map<Coding, Promise<Uint8Array>>>();

const gzipAsync: (bytes: Uint8Array, options: { level: number }) => Promise<Uint8Array> = promisify(gzip);
const brotliAsync: (bytes: Uint8Array, options: { params: Record<number, number> }) => Promise<Uint8Array> =
  promisify(brotliCompress);
