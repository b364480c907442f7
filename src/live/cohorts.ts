/** How long a result is kept for streams of the cohort that ask a little later. */
const keptMs = 500;

/** Reads once for all streams that want the same at the same time: a cohort. */
export class Cohorts<Result> {
  readonly #reads = new Map<string, Promise<Result>>();
  /** Reads that were made, and those that were saved because another stream had begun the same one. */
  readonly counts = { made: 0, saved: 0 };

  /**
   * The result of `work`, or of that of another caller with an equal key. The key has to contain what the result depends on, and
   * the number of the arrival that is the cause: a read that began before it may have missed what has arrived.
   */
  read(key: string, work: () => Promise<Result>): Promise<Result> {
    const known = this.#reads.get(key);
    if (known) {
      this.counts.saved += 1;
      return known;
    }
    this.counts.made += 1;
    const made = work();
    this.#reads.set(key, made);
    const forget = () => this.#reads.delete(key);
    made.then(() => setTimeout(forget, keptMs).unref(), forget);
    return made;
  }
}
