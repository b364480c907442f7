import { AsyncLocalStorage } from 'node:async_hooks';
import { metered, meter } from '../../db/engine/meter.ts';
import type { Deadline } from '../../db/engine/deadline.ts';

/** Statements of a lane under way at most: one is written while the answers of the other go out. */
const mostUnderway = 2;
/** A statement that takes longer, for it waits for a lock, keeps nobody from the lane any more. */
const slowMs = 50;
/** Writes of one statement at most: each of them waits for all. */
export const mostTogether = 32;

/** What came of a write: its row, nothing where it could not be written, or all of it where it went alone. */
export type Outcome<Row, Result> = { row: Row | undefined } | { result: Promise<Result> };

/** Writes several groups in one statement, all or none, and gives the rows of each. */
export type SendAll<Item, Row> = (
  groups: readonly (readonly Item[])[],
) => Promise<readonly (readonly (Row | undefined)[])[]>;

/** Writes of one turn, in their order. */
export interface Group<Item, Row, Result> {
  readonly items: readonly Item[];
  readonly send: SendAll<Item, Row>;
  /** Does all that there is to do for the only one of them. */
  readonly alone: () => Promise<Result>;
}

type Outcomes<Row, Result> = readonly Outcome<Row, Result>[];

interface Waiting<Item, Row, Result> extends Group<Item, Row, Result> {
  readonly resolve: (outcomes: Outcomes<Row, Result>) => void;
  readonly reject: (error: unknown) => void;
  /** Runs something for the request that waits. */
  readonly inRequest: <Done>(work: () => Done) => Done;
  readonly deadline: Deadline | undefined;
}

/**
 * Groups of several turns that can go together. A statement costs as much for its parts, and a commit as much for the
 * disk, whether it writes one row or ten; while statements are under way, others gather for the next.
 */
class Lane<Item, Row, Result> {
  readonly #waiting: Waiting<Item, Row, Result>[] = [];
  readonly #ended: () => void;
  #underway = 0;
  #isDue = false;

  constructor(ended: () => void) {
    this.#ended = ended;
  }

  go(group: Group<Item, Row, Result>): Promise<Outcomes<Row, Result>> {
    return new Promise((resolve, reject) => {
      const inRequest = AsyncLocalStorage.snapshot();
      const deadline = meter()?.deadline;
      this.#waiting.push({ ...group, resolve, reject, inRequest, deadline });
      this.#soon();
    });
  }

  /** What else has come in this turn of the event loop goes along. */
  #soon(): void {
    if (this.#isDue || this.#underway >= mostUnderway) return;
    this.#isDue = true;
    setImmediate(() => void this.#next());
  }

  async #next(): Promise<void> {
    this.#isDue = false;
    const [first, ...others] = this.#taken();
    if (!first) {
      if (this.#underway === 0) this.#ended();
      return;
    }
    this.#underway += 1;
    if (this.#waiting.length > 0) this.#soon();
    const isAlone = others.length === 0 && first.items.length === 1;
    const done = isAlone ? goAlone(first) : goTogether(first, others);
    const slow = Promise.withResolvers<void>();
    const timer = setTimeout(slow.resolve, slowMs);
    await Promise.race([done, slow.promise]);
    clearTimeout(timer);
    this.#underway -= 1;
    this.#soon();
  }

  /** The groups that go next: as many as fit, in their order. */
  #taken(): Waiting<Item, Row, Result>[] {
    let count = 0;
    const place = this.#waiting.findIndex(({ items }) => {
      count += items.length;
      return count > mostTogether;
    });
    return this.#waiting.splice(0, place < 0 ? this.#waiting.length : Math.max(place, 1));
  }
}

async function goAlone<Item, Row, Result>({ inRequest, alone, resolve }: Waiting<Item, Row, Result>) {
  const result = inRequest(alone);
  await Promise.allSettled([result]);
  resolve([{ result }]);
}

async function goTogether<Item, Row, Result>(
  first: Waiting<Item, Row, Result>,
  others: readonly Waiting<Item, Row, Result>[],
): Promise<void> {
  const groups = [first, ...others];
  try {
    const rows = await metered(() => first.send(groups.map(({ items }) => items)), {
      deadline: longest(groups.map(({ deadline }) => deadline)),
    });
    groups.forEach(({ items, resolve }, place) =>
      resolve(items.map((_, index) => ({ row: rows[place]?.[index] }))),
    );
  } catch (error) {
    for (const { reject } of groups) reject(error);
  }
}

/** What goes together does not end with the request that came first, but with the time of the one that has the most left. */
function longest(all: readonly (Deadline | undefined)[]): Deadline | undefined {
  const [most] = all
    .filter((deadline) => deadline !== undefined)
    .toSorted((some, other) => other.leftMs - some.leftMs);
  return most?.apart();
}

/** What goes together, by name, of each database: a process may have the same workspace in two. */
export class OfDatabases<Kept> {
  readonly #all = new WeakMap<object, Map<string, Kept>>();

  of(db: object): Map<string, Kept> {
    let kept = this.#all.get(db);
    if (!kept) {
      kept = new Map();
      this.#all.set(db, kept);
    }
    return kept;
  }
}

const lanesOf = new OfDatabases<unknown>();

/** Sends a group in its lane, with the others that wait there; all that go in lanes of one name are alike. */
export function inLane<Item, Row, Result>(
  db: object,
  name: string,
  group: Group<Item, Row, Result>,
): Promise<Outcomes<Row, Result>> {
  const lanes = lanesOf.of(db);
  // The name says of what they are.
  let lane = lanes.get(name) as Lane<Item, Row, Result> | undefined;
  if (!lane) {
    lane = new Lane(() => lanes.delete(name));
    lanes.set(name, lane);
  }
  return lane.go(group);
}
