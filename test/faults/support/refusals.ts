import type { Trial } from './fault.ts';
import type { Refusal } from './writers.ts';

/**
 * Judges the requests that failed while servers were replaced. A machine that is too slow for two servers may answer 503, which misses
 * the figure; a connection that was cut off breaks a promise.
 */
export function judgeRefusals(trial: Trial, refusals: readonly Pick<Refusal, 'status' | 'words'>[]): void {
  const byWords = Map.groupBy(refusals, ({ status, words }) => `${status} (${words})`);
  const statuses = [...byWords].map(([words, { length }]) => `${length} × ${words}`).join(', ');
  trial.must(
    refusals.every(({ status }) => status === 503),
    `requests were cut off: ${statuses}`,
  );
  trial.figure(refusals.length === 0, `requests failed: ${statuses}`);
}
