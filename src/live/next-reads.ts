interface Reads<Result> {
  /** The read under way. */
  current: Promise<unknown>;
  /** The read after it, for all who have asked since it began. */
  next?: Promise<Result>;
}

/**
 * Shares reads among callers that ask at about the same time. No result is older than the question: who asks while a read is under
 * way gets the result of the next one, which begins when that read has ended.
 */
export class NextReads<Result> {
  readonly #reads = new Map<string, Reads<Result>>();

  /** The result of `work`, or of that of another caller with an equal key, begun after this call. */
  read(key: string, work: () => Promise<Result>): Promise<Result> {
    const reads = this.#reads.get(key);
    if (!reads) return this.#begin(key, work);
    const begin = () => this.#begin(key, work);
    return (reads.next ??= reads.current.then(begin, begin));
  }

  #begin(key: string, work: () => Promise<Result>): Promise<Result> {
    const result = work();
    const reads: Reads<Result> = { current: result };
    this.#reads.set(key, reads);
    const end = () => {
      if (!reads.next) this.#reads.delete(key);
    };
    result.then(end, end);
    return result;
  }
}
