import { raise } from '../resolvers/errors.ts';
import type { StreamLimits } from './stream-limits.ts';

/** Counts streams and requests that wait for changes, in all and by token. */
export class OpenStreams {
  readonly #limits: Pick<StreamLimits, 'streams' | 'perToken'>;
  readonly #byToken = new Map<string, number>();
  /** The streams that the token has at other processes. */
  readonly #elsewhere = new Map<string, number>();
  readonly #listeners: ((tokenId: string, change: number) => void)[] = [];
  #count = 0;

  constructor(limits: Pick<StreamLimits, 'streams' | 'perToken'>) {
    this.#limits = limits;
  }

  /** Calls the listener when a token has one stream more or less in this process: with 1 or -1. */
  onChange(listener: (tokenId: string, change: number) => void): void {
    this.#listeners.push(listener);
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Counts a stream of the token until the returned function is called. Throws `too_many_streams` if the token has as many as it
   * may have, and `unavailable` if the process has reached its limit.
   */
  enter(tokenId: string): () => void {
    const { streams, perToken } = this.#limits;
    const ofToken = this.#byToken.get(tokenId) ?? 0;
    if (ofToken + (this.#elsewhere.get(tokenId) ?? 0) >= perToken)
      raise(
        'too_many_streams',
        `The token has ${perToken} streams and waiting requests, and may have no more at once.`,
      );
    if (this.#count >= streams)
      raise('unavailable', 'The server has reached its limit of open streams; try again soon.');
    this.#change(tokenId, 1);
    return () => this.#change(tokenId, -1);
  }

  /** Notes that the token has more or fewer streams at other processes. */
  noteElsewhere(tokenId: string, change: number): void {
    add(this.#elsewhere, tokenId, change);
  }

  #change(tokenId: string, change: 1 | -1): void {
    this.#count += change;
    add(this.#byToken, tokenId, change);
    for (const listener of this.#listeners) listener(tokenId, change);
  }
}

function add(counts: Map<string, number>, tokenId: string, change: number): void {
  const count = (counts.get(tokenId) ?? 0) + change;
  if (count === 0) counts.delete(tokenId);
  else counts.set(tokenId, count);
}
