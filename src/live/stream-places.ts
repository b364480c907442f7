import { raise } from '../resolvers/errors.ts';
import type { StreamLimits } from './stream-limits.ts';

/** Counts streams and requests that wait for changes, in all and by token. */
export class StreamPlaces {
  readonly #limits: Pick<StreamLimits, 'streams' | 'perToken'>;
  readonly #byToken = new Map<string, number>();
  #taken = 0;

  constructor(limits: Pick<StreamLimits, 'streams' | 'perToken'>) {
    this.#limits = limits;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Takes a place until the returned function is called. Throws `too_many_streams`, or `unavailable` when there is none left. */
  enter(tokenId: string): () => void {
    const { streams, perToken } = this.#limits;
    const ofToken = this.#byToken.get(tokenId) ?? 0;
    if (ofToken >= perToken)
      raise(
        'too_many_streams',
        `The token has ${perToken} streams and waiting requests, and may have no more at once.`,
      );
    if (this.#taken >= streams)
      raise('unavailable', 'There are as many streams as there can be; try again soon.');
    this.#byToken.set(tokenId, ofToken + 1);
    this.#taken += 1;
    return () => this.#leave(tokenId);
  }

  #leave(tokenId: string): void {
    this.#taken -= 1;
    const left = (this.#byToken.get(tokenId) ?? 1) - 1;
    if (left === 0) this.#byToken.delete(tokenId);
    else this.#byToken.set(tokenId, left);
  }
}
