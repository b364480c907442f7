import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { CommandError } from '../failures.ts';

/** A line of a file. */
export interface Line {
  /** From 1, as editors count. */
  readonly number: number;
  /** Without its end; undefined when it was too long to be kept. */
  readonly text: string | undefined;
  /** Of the file, up to the end of this line. */
  readonly bytesRead: number;
  /** False for a last line that nothing ends: the file may have been cut off there. */
  readonly isEnded: boolean;
}

export const longestLineBytes = 16 * 1024 * 1024;

const lineFeed = 0x0a;

/** The size of a file that can be read as one; throws a sentence for a person when it cannot. */
export async function fileSize(path: string): Promise<number> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new CommandError(`There is no file ${path}.`);
    throw error;
  });
  if (found.isDirectory()) throw new CommandError(`${path} is a directory, not a file.`);
  return found.size;
}

/**
 * The lines of a file of UTF-8, one at a time, whatever its size: with LF or CRLF, with or without a byte order mark.
 * A line that is too long is passed over without being kept.
 */
export async function* readLines(path: string, longestBytes = longestLineBytes): AsyncGenerator<Line> {
  const pending = new PendingLine(longestBytes);
  let number = 0;
  let bytesRead = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      pending.add(chunk.subarray(from, end));
      number += 1;
      yield { number, text: pending.take(), bytesRead: bytesRead + end + 1, isEnded: true };
      from = end + 1;
    }
    pending.add(chunk.subarray(from));
    bytesRead += chunk.length;
  }
  if (!pending.isEmpty) yield { number: number + 1, text: pending.take(), bytesRead, isEnded: false };
}

/** The bytes of a line that has not ended yet. */
class PendingLine {
  readonly #longestBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(longestBytes: number) {
    this.#longestBytes = longestBytes;
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  add(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes <= this.#longestBytes) this.#parts.push(part);
    else this.#parts = [];
  }

  take(): string | undefined {
    // The decoder drops the byte order mark; bytes that are no UTF-8 become U+FFFD.
    const text =
      this.#bytes > this.#longestBytes ? undefined : new TextDecoder().decode(Buffer.concat(this.#parts));
    this.#parts = [];
    this.#bytes = 0;
    return text?.endsWith('\r') ? text.slice(0, -1) : text;
  }
}
