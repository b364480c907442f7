import { DamagedFileError } from './source-file.ts';

/** A line of a file. */
export type Line = LineText & {
  /** The line number, from 1. */
  readonly number: number;
  /** The bytes of text up to the end of this line. */
  readonly bytesRead: number;
  /** Whether a line feed ends the line. The last line may have none, for example because the file was truncated. */
  readonly isEnded: boolean;
};

/** The text of a line without the line break, or the reason why it cannot be read. */
type LineText = { readonly text: string } | { readonly text: undefined; readonly problem: string };

const defaultMaxBytes = 16 * 1024 * 1024;

const lineFeed = 0x0a;

/**
 * Splits UTF-8 text of any size into lines: with LF or CRLF, with or without a byte order mark. A line that is too long
 * is not held in memory and is yielded as a problem. If a compressed file is damaged, the last line is that problem.
 */
export async function* readLines(
  source: AsyncIterable<Buffer>,
  maxBytes = defaultMaxBytes,
): AsyncGenerator<Line> {
  const pending = new PendingLine(maxBytes);
  let number = 0;
  let bytesRead = 0;
  try {
    for await (const chunk of source) {
      let start = 0;
      for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
        pending.add(chunk.subarray(start, end));
        number += 1;
        yield { number, ...pending.take(), bytesRead: bytesRead + end + 1, isEnded: true };
        start = end + 1;
      }
      pending.add(chunk.subarray(start));
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
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  add(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes <= this.#maxBytes) this.#parts.push(part);
    else this.#parts = [];
  }

  take(): LineText {
    const isTooLong = this.#bytes > this.#maxBytes;
    const bytes = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    if (isTooLong) {
      const problem = `it is longer than ${this.#maxBytes / 1024 / 1024} MiB`;
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
