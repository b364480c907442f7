/** A request has read more bytes than it may, or its answer would have more. */
export class AnswerTooLargeError extends Error {
  override readonly name = 'AnswerTooLargeError';
  /** How many rows of the page would not have been too large; undefined if that is not known. */
  readonly rowsThatFit: number | undefined;

  constructor(rowsThatFit?: number) {
    super();
    this.rowsThatFit = rowsThatFit;
  }
}

/** How many bytes of rows one request may still read. A request holds its rows in memory until it is answered. */
export class ReadAllowance {
  readonly #bytes: number;
  #leftBytes: number;

  constructor(bytes: number) {
    this.#bytes = bytes;
    this.#leftBytes = bytes;
  }

  /** How many bytes have been read. */
  get spentBytes(): number {
    return this.#bytes - this.#leftBytes;
  }

  /** Subtracts bytes. Returns false when the allowance is used up; the caller must then discard the bytes. */
  spend(bytes: number): boolean {
    this.#leftBytes -= bytes;
    return this.#leftBytes >= 0;
  }

  /** Subtracts the texts of rows that have been read. Throws when the allowance is used up. */
  spendRows(rows: readonly unknown[]): void {
    if (!this.spend(bytesOf(rows))) throw new AnswerTooLargeError();
  }
}

/** The size of all texts in a value: in the cells of rows, in arrays and in JSON. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  let bytes = 0;
  for (const part of Object.values(value)) bytes += bytesOf(part);
  return bytes;
}
