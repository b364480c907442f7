/** One request has read, or would answer, more bytes than it may. */
export class AnswerTooLargeError extends Error {
  override readonly name = 'AnswerTooLargeError';
}

/** How many bytes of rows one request may still read: what it reads, it holds in memory until it is answered. */
export class ReadAllowance {
  #leftBytes: number;

  constructor(bytes: number) {
    this.#leftBytes = bytes;
  }

  /** Takes bytes off the allowance; false when it is used up, and the bytes are not to be kept. */
  spend(bytes: number): boolean {
    this.#leftBytes -= bytes;
    return this.#leftBytes >= 0;
  }

  /** Takes off the texts of rows that have been read already; throws when the allowance is used up. */
  spendRows(rows: readonly unknown[]): void {
    for (const row of rows) {
      for (const cell of Object.values(row as object)) {
        if (typeof cell === 'string' && !this.spend(cell.length)) throw new AnswerTooLargeError();
      }
    }
  }
}
