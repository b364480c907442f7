import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { CommandError } from '../failures.ts';
import { unsupportedFormat, isGzip } from './unsupported-format.ts';

/** The opened file that an import reads. Its start has been checked to be lines of text. */
export interface SourceFile {
  /** The size of the file in bytes, compressed if the file is. */
  readonly totalBytes: number;
  /** How much of the file has been read, in bytes. */
  readonly bytesRead: number;
  /**
   * The decompressed text of the file, which can be read once. Throws `DamagedFileError` where a gzip file is damaged.
   */
  readonly text: AsyncIterable<Buffer>;
  close(): void;
}

/** A compressed file that cannot be read to its end. */
export class DamagedFileError extends Error {
  override readonly name = 'DamagedFileError';
}

/** How much of a file is read to detect its format. */
const headBytes = 64 * 1024;

/**
 * Opens a file of lines, compressed with gzip or not. Throws a `CommandError` if the file does not exist, or if it has
 * another format (UTF-16, HTML, an array over several lines), in which each line would be refused for the same
 * reason.
 */
export async function openSourceFile(path: string): Promise<SourceFile> {
  const totalBytes = await fileSize(path);
  const file = createReadStream(path);
  try {
    let bytesRead = 0;
    const raw = await peek(file, (bytes) => (bytesRead += bytes));
    const text = isGzip(raw.head) ? await peek(decompressed(raw.chunks)) : raw;
    const problem = unsupportedFormat(text.head, path);
    if (problem !== undefined) throw new CommandError(problem);
    return {
      totalBytes,
      get bytesRead() {
        return bytesRead;
      },
      text: text.chunks,
      close: () => void file.destroy(),
    };
  } catch (error) {
    file.destroy();
    throw error;
  }
}

/** The size of a file in bytes; throws a `CommandError` if there is no such file. */
export async function fileSize(path: string): Promise<number> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new CommandError(`There is no file ${path}.`);
    throw error;
  });
  if (stats.isDirectory()) throw new CommandError(`${path} is a directory, not a file.`);
  return stats.size;
}

interface PeekedText {
  /** The beginning of the text. */
  readonly head: Buffer;
  /** The whole text, the head included. */
  readonly chunks: AsyncIterable<Buffer>;
}

/** Reads the head. The returned chunks start with the head again; an error while reading it is thrown after it. */
async function peek(source: AsyncIterable<Buffer>, onRead?: (bytes: number) => void): Promise<PeekedText> {
  const reader = counted(source, onRead);
  const parts: Buffer[] = [];
  let length = 0;
  let failure: { error: unknown } | undefined;
  try {
    while (length < headBytes) {
      const next = await reader.next();
      if (next.done) break;
      parts.push(next.value);
      length += next.value.length;
    }
  } catch (error) {
    failure = { error };
  }
  const head = Buffer.concat(parts);
  return { head, chunks: headAndRest(head, reader, failure) };
}

async function* counted(
  source: AsyncIterable<Buffer>,
  onRead: ((bytes: number) => void) | undefined,
): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    onRead?.(chunk.length);
    yield chunk;
  }
}

async function* headAndRest(
  head: Buffer,
  rest: AsyncIterable<Buffer>,
  failure: { error: unknown } | undefined,
): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  if (failure) throw failure.error;
  yield* rest;
}

async function* decompressed(compressed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  // The loop below throws the same error.
  pipeline(Readable.from(compressed), gunzip).catch(() => undefined);
  try {
    yield* gunzip as AsyncIterable<Buffer>;
  } catch (error) {
    const { code } = Object(error) as { code?: unknown };
    if (typeof code !== 'string' || !code.startsWith('Z_')) throw error;
    const problem = code === 'Z_BUF_ERROR' ? 'ends' : 'is damaged';
    throw new DamagedFileError(`the gzip file ${problem} here, and nothing after this line can be read`);
  }
}
