import { cursorAfter, parseCursor, type LogPages } from '../resolvers/changes.ts';
import type { Sieve } from '../reference/sieve.ts';
import type { Arrivals } from './change-watch.ts';
import type { Slices } from './slices.ts';

/** Streams with the same filter and the same rights. New changes are tested once for all of them. */
export class Audience {
  readonly #sieve: Sieve;
  readonly #slices: Slices;
  /** The streams that are in it. */
  size = 0;
  #judged: { arrival: number; after: string; cursor: Promise<string | undefined> } | undefined;

  constructor(sieve: Sieve, slices: Slices) {
    this.#sieve = sieve;
    this.#slices = slices;
  }

  /** The cursor after what has arrived, if nothing of it is for these streams; undefined if it has to be read. */
  pass(after: string, { arrival }: Pick<Arrivals, 'arrival'>, pages: LogPages): Promise<string | undefined> {
    if (this.#judged?.arrival !== arrival || this.#judged.after !== after)
      this.#judged = { arrival, after, cursor: this.#judge(after, pages) };
    return this.#judged.cursor;
  }

  async #judge(after: string, pages: LogPages): Promise<string | undefined> {
    const place = parseCursor(after);
    const page = place && (await pages.after(place));
    if (!page) return undefined;
    const end = cursorAfter(place, page);
    if (end === undefined) return undefined;
    const issues = this.#sieve.readsIssues ? await page.issues() : undefined;
    await this.#slices.next();
    return this.#sieve.lets(page.rows, issues) ? undefined : end;
  }
}

/** The audiences of all streams, by what they want. */
export class Audiences {
  readonly #slices: Slices;
  readonly #byKey = new Map<string, Audience>();

  constructor(slices: Slices) {
    this.#slices = slices;
  }

  /** The audience for a new stream, which leaves it when it ends. Without a key it is alone. */
  enter(key: string | undefined, sieve: Sieve): { audience: Audience; leave: () => void } {
    const known = key === undefined ? undefined : this.#byKey.get(key);
    const audience = known ?? new Audience(sieve, this.#slices);
    if (key !== undefined) this.#byKey.set(key, audience);
    audience.size += 1;
    const leave = () => {
      audience.size -= 1;
      if (audience.size === 0 && key !== undefined) this.#byKey.delete(key);
    };
    return { audience, leave };
  }
}
