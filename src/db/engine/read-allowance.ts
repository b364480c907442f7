/** A request has read more bytes than it may, or its answer would have more. */
export class AnswerTooLargeError extends Error {
  override readonly name = 'AnswerTooLargeError';
}

/** How many bytes of rows one request may still read. A request holds its rows in memory until it is answered. */
export class ReadAllowance {
  #leftBytes: number;

  constructor(bytes: number) {
    this.#leftBytes = bytes;
  }

  /** Subtracts bytes. Returns false when the allowance is used up; the caller must then discard the bytes. */
  spend(bytes: number): boolean {
    this.#leftBytes -= bytes;
    return this.#leftBytes >= 0;
  }

  /** Subtracts the texts of rows that have been read. Throws when the allowance is used up. */
  spendRows(rows: readonly unknown[]): void {
    for (const row of rows) {
      for (const cell of Object.values(row as object)) {
        if (typeof cell === 'string' && !this.spend(cell.length)) throw new AnswerTooLargeError();
      }
    }
  }
}
