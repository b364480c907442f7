import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** A content coding that answers are given in. */
export type Coding = 'br' | 'gzip';

/** Below this a compressed answer fits into the same packet as it does uncompressed. */
const worthwhileBytes = 1_024;

const compressible = /\b(?:json|javascript|xml)\b|^text\//;

/**
 * The coding that an answer is to have; undefined when it is to go as it is, which it also does when the client takes
 * none of ours: the work is done by then (RFC 9110, 12.5.3).
 */
export function chooseCoding(
  acceptEncoding: string | undefined,
  { contentType, bytes }: { contentType: string; bytes: number },
): Coding | undefined {
  if (bytes === 0 || acceptEncoding === undefined || !compressible.test(contentType)) return undefined;
  const weights = readWeights(acceptEncoding);
  const weightOf = (coding: string) => weights.get(coding) ?? weights.get('*') ?? 0;
  const coding = weightOf('gzip') > weightOf('br') ? 'gzip' : 'br';
  if (weightOf(coding) === 0) return undefined;
  const plainIsRefused = (weights.get('identity') ?? weights.get('*')) === 0;
  if (plainIsRefused) return coding;
  if (bytes < worthwhileBytes || (weights.get('identity') ?? 0) > weightOf(coding)) return undefined;
  return coding;
}

/** Compresses, on a thread beside the one that answers requests; the levels are those whose time the smaller answer is worth. */
export async function compress(coding: Coding, bytes: Uint8Array): Promise<Uint8Array> {
  if (coding === 'gzip') return gzipped(bytes, { level: constants.Z_BEST_SPEED });
  return brotlied(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 4,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
}

const gzipped: (bytes: Uint8Array, options: { level: number }) => Promise<Uint8Array> = promisify(gzip);
const brotlied: (bytes: Uint8Array, options: { params: Record<number, number> }) => Promise<Uint8Array> =
  promisify(brotliCompress);

/** What an Accept-Encoding says of each coding, by its name in lower case; a weight that cannot be read is none. */
function readWeights(acceptEncoding: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const element of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', ...parameters] = element.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => /^q\s*=/.test(parameter))?.replace(/^q\s*=\s*/, '') ?? '1';
    if (name !== '') weights.set(name === 'x-gzip' ? 'gzip' : name, qvalue.test(weight) ? Number(weight) : 0);
  }
  return weights;
}

const qvalue = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;
