import type { Deadline } from '../../db/engine/deadline.ts';
import { withMeter, meter } from '../../db/engine/meter.ts';
import { isForeignKeyViolation, withRetry } from '../../db/engine/transaction.ts';
import { DatabaseUnavailableError } from '../../db/engine/unavailable.ts';
import { isKeptAlready } from '../../db/idempotency.ts';
import type { StatementTarget } from '../../db/engine/statement-target.ts';
import type { SerialQueue } from './serial-queue.ts';
import { ShortLivedMap } from './short-lived-map.ts';

/**
 * Writes items, all or none, and returns a row for each, or undefined for an item that could not be written. If `wait`
 * is false, an item whose rows are locked by another transaction is left out instead of waiting for the lock.
 */
type SendItems<Item, Row> = (
  to: StatementTarget,
  items: readonly Item[],
  wait: boolean,
) => Promise<readonly (Row | undefined)[]>;

/** One item to write. */
export interface ItemWrite<Item, Row> {
  readonly item: Item;
  readonly send: SendItems<Item, Row>;
  /** Writes of one key run one after the other. */
  readonly serialKey: string;
  /**
   * Items of one key can share a statement: they have the same `send` and the same workspace. If undefined, the item gets
   * a statement of its own.
   */
  readonly batchKey: string | undefined;
}

/** Writes one item; returns undefined if it could not be written. */
export type SendItem = <Item, Row>(
  to: StatementTarget,
  write: ItemWrite<Item, Row>,
) => Promise<Row | undefined>;

/** Sends each item by a statement of its own. */
export function unbatched(serial: SerialQueue): SendItem {
  return (to, write) => serial.run(write.serialKey, () => sendAlone(to, write));
}

/**
 * Sends items that can share a statement together. The cost of a statement's parts and of its commit is almost the same
 * for one row and for ten, so items that arrive while statements are in progress are collected for the next one.
 */
export function batched(serial: SerialQueue): SendItem {
  const batcher = new WriteBatcher(serial);
  return (to, write) => batcher.send(to, write);
}

async function sendAlone<Item, Row>(
  to: StatementTarget,
  { item, send }: ItemWrite<Item, Row>,
): Promise<Row | undefined> {
  try {
    const [row] = await withRetry(() => send(to, [item], true));
    return row;
  } catch (error) {
    // An object that was checked has been deleted before the statement locked it, or another request has stored the
    // same Idempotency-Key. The caller checks again, and raises the error that says which.
    if (isForeignKeyViolation(error) || isKeptAlready(error)) return undefined;
    throw error;
  }
}

/**
 * The maximum number of statements of one batch key in progress: one runs while the responses to the other are sent.
 */
const maxInProgress = 2;
/** A statement that takes longer must be waiting for a lock, and no longer counts as in progress. */
const slowMs = 50;
/** The maximum number of items of one statement, because each of them waits for all. */
const maxItems = 32;

/** The result of an item: its row, or the result of sending it alone. */
type Outcome = { row: unknown } | { alone: Promise<unknown> };

/** Items of one serial key and one batch key that wait for earlier writes of the serial key. */
interface Group {
  readonly items: unknown[];
  outcomes: Promise<readonly Outcome[]>;
}

class WriteBatcher {
  readonly #serial: SerialQueue;
  readonly #groups = new ShortLivedMap<Group>();
  readonly #queues = new ShortLivedMap<BatchQueue>();

  constructor(serial: SerialQueue) {
    this.#serial = serial;
  }

  async send<Item, Row>(to: StatementTarget, write: ItemWrite<Item, Row>): Promise<Row | undefined> {
    const { serialKey, batchKey } = write;
    const alone = () => sendAlone(to, write);
    if (batchKey === undefined) return this.#serial.run(serialKey, alone);
    // All items of one batch key have the same `send`, so a row of theirs is a row of this item's type.
    const outcome = await this.#inGroup(to, { ...write, batchKey } as GroupedWrite, alone);
    const row = ('alone' in outcome ? await outcome.alone : outcome.row) as Row | undefined;
    // An item that could not be written with others is sent by a statement of its own, which waits for locks.
    return row === undefined && !('alone' in outcome) ? this.#serial.run(serialKey, alone) : row;
  }

  /** Adds the item to the waiting group of its keys, or to a new one, and waits for its outcome. */
  async #inGroup(
    to: StatementTarget,
    write: GroupedWrite,
    sendOnlyItem: () => Promise<unknown>,
  ): Promise<Outcome> {
    const { item, send, serialKey, batchKey } = write;
    const groupKey = `${batchKey} ${serialKey}`;
    let group = this.#groups.get(groupKey);
    if (group && group.items.length < maxItems) group.items.push(item);
    else {
      const items = [item];
      const created: Group = { items, outcomes: Promise.resolve([]) };
      this.#groups.set(groupKey, created);
      created.outcomes = this.#serial.run(serialKey, () => {
        if (this.#groups.get(groupKey) === created) this.#groups.delete(groupKey);
        const sendAll = (all: readonly unknown[], wait: boolean) => withRetry(() => send(to, all, wait));
        return this.#queue(batchKey).enqueue({ items, sendAll, sendOnlyItem });
      });
      group = created;
    }
    const index = group.items.length - 1;
    try {
      return (await group.outcomes)[index] ?? { row: undefined };
    } catch (error) {
      // After this error it is unknown whether the items were written. After any other error, none of them was.
      if (error instanceof DatabaseUnavailableError) throw error;
      return { row: undefined };
    }
  }

  #queue(batchKey: string): BatchQueue {
    let queue = this.#queues.get(batchKey);
    if (!queue) {
      queue = new BatchQueue(() => this.#queues.delete(batchKey));
      this.#queues.set(batchKey, queue);
    }
    return queue;
  }
}

interface GroupedWrite extends ItemWrite<unknown, unknown> {
  readonly batchKey: string;
}

/** A group whose serial key is free. */
interface ReadyGroup {
  readonly items: readonly unknown[];
  readonly sendAll: (items: readonly unknown[], wait: boolean) => Promise<readonly unknown[]>;
  /** Sends the only item of the group. */
  readonly sendOnlyItem: () => Promise<unknown>;
}

/**
 * How a group is sent: it was sent with others and has the outcomes, or it has to send its only item itself and call `done`
 * afterwards.
 */
type GroupDispatch = { outcomes: readonly Outcome[] } | { done: () => void };

interface WaitingGroup extends ReadyGroup {
  readonly resolve: (dispatch: GroupDispatch) => void;
  readonly reject: (error: unknown) => void;
  readonly deadline: Deadline | undefined;
}

/** Groups of one batch key, and the statements that send them. */
class BatchQueue {
  readonly #waiting: WaitingGroup[] = [];
  readonly #onIdle: () => void;
  #inProgress = 0;
  /** Whether the next statement is about to be sent. */
  #isScheduled = false;

  constructor(onIdle: () => void) {
    this.#onIdle = onIdle;
  }

  async enqueue(group: ReadyGroup): Promise<readonly Outcome[]> {
    const dispatch = await new Promise<GroupDispatch>((resolve, reject) => {
      this.#waiting.push({ ...group, resolve, reject, deadline: meter()?.deadline });
      this.#schedule();
    });
    if ('outcomes' in dispatch) return dispatch.outcomes;
    // It is sent here and not in `sendOnly`, so that the meter of the waiting request counts its time and its statements.
    const alone = group.sendOnlyItem();
    await Promise.allSettled([alone]);
    dispatch.done();
    return [{ alone }];
  }

  /** Sends the next statement at the end of this turn of the event loop, so that all groups that arrive in the turn share it. */
  #schedule(): void {
    if (this.#isScheduled || this.#inProgress >= maxInProgress) return;
    this.#isScheduled = true;
    setImmediate(() => void this.#sendNext());
  }

  /** Sends the next groups by one statement, and waits until it has ended or is slow. */
  async #sendNext(): Promise<void> {
    this.#isScheduled = false;
    const [first, ...others] = this.#takeNext();
    if (!first) {
      if (this.#inProgress === 0) this.#onIdle();
      return;
    }
    this.#inProgress += 1;
    if (this.#waiting.length > 0) this.#schedule();
    const isAlone = others.length === 0 && first.items.length === 1;
    const done = isAlone ? sendOnly(first) : sendTogether(first, others);
    const slow = Promise.withResolvers<void>();
    const timer = setTimeout(slow.resolve, slowMs);
    await Promise.race([done, slow.promise]);
    clearTimeout(timer);
    this.#inProgress -= 1;
    this.#schedule();
  }

  /** Removes the next groups from the queue: as many as fit into one statement, in their order. */
  #takeNext(): WaitingGroup[] {
    let count = 0;
    const end = this.#waiting.findIndex(({ items }) => {
      count += items.length;
      return count > maxItems;
    });
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : Math.max(end, 1));
  }
}

/** Lets the group send its only item. */
function sendOnly({ resolve }: WaitingGroup): Promise<void> {
  return new Promise((done) => resolve({ done }));
}

async function sendTogether(first: WaitingGroup, others: readonly WaitingGroup[]): Promise<void> {
  const groups = [first, ...others];
  const wait = others.length === 0;
  try {
    const rows = await withMeter(
      () =>
        first.sendAll(
          groups.flatMap(({ items }) => items),
          wait,
        ),
      {
        deadline: latestDeadline(groups.map(({ deadline }) => deadline)),
      },
    );
    let start = 0;
    for (const { items, resolve } of groups) {
      resolve({ outcomes: rows.slice(start, start + items.length).map((row) => ({ row })) });
      start += items.length;
    }
  } catch (error) {
    for (const { reject } of groups) reject(error);
  }
}

/**
 * The deadline of a batch is that of the request with the most time left, so that no other request can end the batch
 * early.
 */
function latestDeadline(all: readonly (Deadline | undefined)[]): Deadline | undefined {
  const [first] = all.filter((deadline) => deadline !== undefined).toSorted((a, b) => b.leftMs - a.leftMs);
  return first?.detached();
}
