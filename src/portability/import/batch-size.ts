/** More would make other writes wait longer. */
const maxIssues = 100;
/** Fewer would cost more statements than they save of the time that others wait. */
const minIssues = 20;
/** A batch keeps locks for which a write of a member waits at most `LOCK_TIMEOUT_MS`, by default 450 ms. */
const aimedMs = 200;

/** How many issues the next transaction of an import writes. */
export class BatchSize {
  #issues = maxIssues;

  get issues(): number {
    return this.#issues;
  }

  /** Learns how long the last batch took. */
  took(issues: number, ms: number): void {
    const fitting = Math.floor((aimedMs * issues) / ms);
    this.#issues = Math.min(maxIssues, Math.max(minIssues, fitting));
  }
}
