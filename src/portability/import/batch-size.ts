/** Larger batches would keep other writes waiting for longer. */
const maxIssues = 100;
/** Smaller batches would add more time in statements than they save other writes in waiting. */
const minIssues = 20;
/** The time that a batch should take. Members' writes wait for its locks, for at most `LOCK_TIMEOUT_MS` (450 ms by default). */
const targetMs = 200;

/** How many issues the next transaction of an import writes. */
export class BatchSize {
  #issues = maxIssues;

  get issues(): number {
    return this.#issues;
  }

  /** Learns how long the last batch took. */
  took(issues: number, ms: number): void {
    const fitting = Math.floor((targetMs * issues) / ms);
    this.#issues = Math.min(maxIssues, Math.max(minIssues, fitting));
  }
}
