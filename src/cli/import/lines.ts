import { DamagedFileError } from './source-file.ts';

/** A line of a file. */
export type Line = LineText & {
  /** From 1, as editors count. */
  readonly number: number;
  /** The bytes of text up to the end of this line. */
  readonly bytesRead: number;
  /** False for a last line that nothing ends: the file may have been cut off there. */
  readonly isEnded: boolean;
};

/** What a line says, without its end, or why it cannot be read. */
type LineText = { readonly text: string } | { readonly text: undefined; readonly problem: string };

const longestLineBytes = 16 * 1024 * 1024;

const lineFeed = 0x0a;

/**
 * The lines of a text in UTF-8, one at a time, whatever its size: with LF or CRLF, with or without a byte order mark.
 * A line that is too long is passed over without being kept. Where a compressed file is damaged, the last line says so.
 */
export async function* readLines(
  source: AsyncIterable<Buffer>,
  longestBytes = longestLineBytes,
): AsyncGenerator<Line> {
  const pending = new PendingLine(longestBytes);
  let number = 0;
  let bytesRead = 0;
  try {
    for await (const chunk of source) {
      let from = 0;
      for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
        pending.add(chunk.subarray(from, end));
        number += 1;
        yield { number, ...pending.take(), bytesRead: bytesRead + end + 1, isEnded: true };
        from = end + 1;
      }
      pending.add(chunk.subarray(from));
      bytesRead += chunk.length;
    }
  } catch (error) {
    if (!(error instanceof DamagedFileError)) throw error;
    yield { number: number + 1, text: undefined, problem: error.message, bytesRead, isEnded: false };
    return;
  }
  if (!pending.isEmpty) yield { number: number + 1, ...pending.take(), bytesRead, isEnded: false };
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

  take(): LineText {
    const isTooLong = this.#bytes > this.#longestBytes;
    const bytes = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    if (isTooLong) {
      const problem = `it is longer than ${this.#longestBytes / 1024 / 1024} MiB`;
      return { text: undefined, problem };
    }
    try {
      // The decoder drops the byte order mark.
      const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      return { text: text.endsWith('\r') ? text.slice(0, -1) : text };
    } catch {
      return { text: undefined, problem: 'it is not UTF-8' };
    }
  }
}
