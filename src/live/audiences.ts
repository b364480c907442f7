import { cursorAfter, parseCursor, type LogPages } from '../resolvers/changes/changes.ts';
import type { PageTest } from '../reference/page-test.ts';
import type { Arrivals } from './change-watch.ts';
import type { Slices } from '../db/engine/slices.ts';

/** Streams with the same filter and the same rights. A page of new changes is tested once for all of them. */
export class Audience {
  readonly #pageTest: PageTest;
  readonly #slices: Slices;
  /** The number of its streams. */
  size = 0;
  /** The newest test: the arrival and the cursor that it was made for, and its result. */
  #lastTest: { arrival: number; after: string; cursor: Promise<string | undefined> } | undefined;

  constructor(pageTest: PageTest, slices: Slices) {
    this.#pageTest = pageTest;
    this.#slices = slices;
  }

  /** The cursor after the new changes, if none of them concerns these streams; undefined if the streams have to read. */
  skip(after: string, { arrival }: Pick<Arrivals, 'arrival'>, pages: LogPages): Promise<string | undefined> {
    if (this.#lastTest?.arrival !== arrival || this.#lastTest.after !== after)
      this.#lastTest = { arrival, after, cursor: this.#test(after, pages) };
    return this.#lastTest.cursor;
  }

  async #test(after: string, pages: LogPages): Promise<string | undefined> {
    const start = parseCursor(after);
    const page = start && (await pages.after(start));
    if (!page) return undefined;
    const end = cursorAfter(start, page);
    if (end === undefined) return undefined;
    const issues = this.#pageTest.readsIssues ? await page.issues() : undefined;
    await this.#slices.next();
    return this.#pageTest.mayConcern(page.rows, issues) ? undefined : end;
  }
}

/** The audiences of all streams. */
export class Audiences {
  readonly #slices: Slices;
  readonly #byKey = new Map<string, Audience>();

  constructor(slices: Slices) {
    this.#slices = slices;
  }

  /** Adds a new stream to the audience with this key; without a key, to one of its own. The stream leaves it at its end. */
  enter(key: string | undefined, pageTest: PageTest): { audience: Audience; leave: () => void } {
    const known = key === undefined ? undefined : this.#byKey.get(key);
    const audience = known ?? new Audience(pageTest, this.#slices);
    if (key !== undefined) this.#byKey.set(key, audience);
    audience.size += 1;
    const leave = () => {
      audience.size -= 1;
      if (audience.size === 0 && key !== undefined) this.#byKey.delete(key);
    };
    return { audience, leave };
  }
}
