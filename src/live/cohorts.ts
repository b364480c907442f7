/** How long a result is reused for streams of the cohort that ask a little later. */
const reuseMs = 500;

/** Reads once for all streams that need the same data at the same time: a cohort. */
export class Cohorts<Result> {
  readonly #reads = new Map<string, Promise<Result>>();
  /** Reads that were made, and those that were saved because another stream had begun the same one. */
  readonly counts = { made: 0, saved: 0 };

  /**
   * The result of `work`, or of the `work` of another caller with an equal key. The key has to contain everything on which the
   * result depends, and the number of the arrival that is the cause: a read that began before that arrival may have missed its
   * changes.
   */
  read(key: string, work: () => Promise<Result>): Promise<Result> {
    const known = this.#reads.get(key);
    if (known) {
      this.counts.saved += 1;
      return known;
    }
    this.counts.made += 1;
    const read = work();
    this.#reads.set(key, read);
    const forget = () => this.#reads.delete(key);
    // A read that has failed is forgotten at once, so that the next stream tries again.
    read.then(() => setTimeout(forget, reuseMs).unref(), forget);
    return read;
  }
}
