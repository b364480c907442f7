import { defaultRates } from '../../executor/limits.ts';
import type { RefusalReason } from './refusals.ts';
import { levelAfter } from './rate-limit-memory.ts';
import { callerOfAddress, type Quota } from './rate-limit.ts';
import { recentlyUsed } from './recently-used.ts';

/** How many addresses are remembered. The one whose last unknown token is oldest is forgotten first. */
const maxAddresses = 100_000;

/**
 * Counts invalid tokens by the address that sent them, in a bucket that refills evenly within a minute. Each costs a lookup in
 * the database, so an address with an empty bucket gets no more lookups.
 */
export class UnknownTokens {
  readonly #quota: Pick<Quota, 'limit' | 'windowSeconds'>;
  readonly #now: () => number;
  readonly #listeners: ((caller: string) => void)[] = [];
  /** What is left of the quota of each address. Reading it does not count as a use. */
  readonly #buckets = recentlyUsed<{ level: number; atMs: number }>(maxAddresses);

  constructor(perMinute = defaultRates.unknownTokensPerMinute, now: () => number = () => performance.now()) {
    this.#quota = { limit: perMinute, windowSeconds: 60 };
    this.#now = now;
  }

  /** Calls the listener with each caller whose invalid token is counted here. */
  onNote(listener: (caller: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Counts an invalid token. */
  note(address: string | undefined): void {
    const caller = callerOfAddress(address);
    this.noteElsewhere(caller);
    for (const listener of this.#listeners) listener(caller);
  }

  /** Counts an invalid token that another process has received. */
  noteElsewhere(caller: string): void {
    const level = Math.max(this.#levelOf(caller) - 1, 0);
    this.#buckets.set(caller, { level, atMs: this.#now() });
  }

  /** The refusal for an address with an empty bucket; undefined when it may send another unknown token. */
  refusal(address: string | undefined): RefusalReason | undefined {
    if (this.#buckets.size === 0) return undefined;
    const level = this.#levelOf(callerOfAddress(address));
    if (level >= 1) return undefined;
    const { limit, windowSeconds } = this.#quota;
    const retryAfterSeconds = Math.max(Math.ceil(((1 - level) * windowSeconds) / limit), 1);
    const message = `Too many requests with unknown tokens come from this address: try again in ${retryAfterSeconds} s.`;
    return { code: 'rate_limited', message, retryAfterSeconds };
  }

  #levelOf(caller: string): number {
    const known = this.#buckets.peek(caller);
    if (!known) return this.#quota.limit;
    return levelAfter(this.#quota, known.level, (this.#now() - known.atMs) / 1_000);
  }
}
