import { Loaders } from '../../db/reads/loaders.ts';
import { meter } from '../../db/engine/meter.ts';
import { inTransaction, type Trx } from '../../db/engine/transaction.ts';
import type { KeyedItem } from '../../db/writes/kept-keys.ts';
import type { SignedIn } from '../context.ts';
import { requireTransaction } from './keyed-write.ts';
import type { SerialQueue } from './serial-queue.ts';
import { batched, unbatched, type ItemWrite, type SendItem } from './write-batcher.ts';

/** How a server sends its writes. */
export interface Writes {
  readonly serial: SerialQueue;
  readonly send: SendItem;
}

/** With `batching`, writes that can be combined share a statement. */
export function writesOf(serial: SerialQueue, { batching }: { batching: boolean }): Writes {
  return { serial, send: (batching ? batched : unbatched)(serial) };
}

/**
 * Does the work in one transaction, after all earlier work of the same serial key, and then clears the rows that
 * the request has loaded.
 */
export async function write<Result>(
  context: SignedIn,
  serialKey: string | undefined,
  work: (trx: Trx) => Promise<Result>,
): Promise<Result> {
  requireTransaction(context);
  const { db, loaders, writes, openTransaction } = context;
  const runInTransaction = () => inTransaction(db, work);
  if (serialKey !== undefined) openTransaction?.hold(serialKey);
  const isSerial = serialKey !== undefined && !openTransaction;
  const result = await (isSerial ? writes.serial.run(serialKey, runInTransaction) : runInTransaction());
  loaders.clear();
  return result;
}

/** Writes one item by a statement, which is a transaction by itself; returns undefined if it could not be written. */
export async function writeItem<Item extends KeyedItem, Row>(
  context: SignedIn,
  itemWrite: ItemWrite<Item, Row>,
): Promise<Row | undefined> {
  const { db, connect, keyed, loaders, writes, openTransaction } = context;
  openTransaction?.hold(itemWrite.serialKey);
  const target = { db, connect };
  const item = keyed ? { ...itemWrite.item, key: keyed.key } : itemWrite.item;
  const row = openTransaction
    ? (await itemWrite.send(target, [item], true))[0]
    : await writes.send(target, { ...itemWrite, item });
  if (keyed && row !== undefined) keyed.isDone = true;
  if (!openTransaction && row !== undefined) meter()?.deadline?.committed();
  loaders.clear();
  return row;
}

/**
 * Does everything that the work reads and writes in one transaction. As it holds a connection from the beginning, it
 * does not wait for a serial key inside the transaction: where a write finds its key busy, everything is rolled back,
 * and retried when the key is free.
 */
export async function writeInOneTransaction<Result>(
  context: SignedIn,
  work: (transactionContext: SignedIn & { readonly db: Trx }) => Promise<Result>,
): Promise<Result> {
  const { bounds, db, writes } = context;
  const { serial } = writes;
  for (let heldKey: string | undefined; ; ) {
    const openTransaction = new OpenTransaction(serial, heldKey);
    const attempt = () =>
      inTransaction(db, (trx) =>
        work({ ...context, db: trx, connect: undefined, loaders: new Loaders(trx, bounds), openTransaction }),
      );
    try {
      return await (heldKey === undefined ? attempt() : serial.run(heldKey, attempt));
    } catch (error) {
      if (!(error instanceof KeyIsBusy)) throw error;
      heldKey = error.key;
    } finally {
      openTransaction.end();
    }
  }
}

/** The serial keys of a transaction around a whole operation, held until it has ended. */
export class OpenTransaction {
  readonly #serial: SerialQueue;
  readonly #keys: Set<string>;
  readonly #releases: (() => void)[] = [];
  readonly #ended = Promise.withResolvers<void>();

  constructor(serial: SerialQueue, heldKey: string | undefined) {
    this.#serial = serial;
    this.#keys = new Set(heldKey === undefined ? [] : [heldKey]);
  }

  hold(key: string): void {
    if (this.#keys.has(key)) return;
    const release = this.#serial.tryHold(key, this.#ended.promise);
    if (!release) throw new KeyIsBusy(key);
    this.#keys.add(key);
    this.#releases.push(release);
  }

  end(): void {
    for (const release of this.#releases) release();
    this.#ended.resolve();
  }
}

/** Ends an attempt that would have to wait; only `writeInOneTransaction` sees it. */
class KeyIsBusy extends Error {
  readonly key: string;

  constructor(key: string) {
    super('Another write holds the serial key.');
    this.key = key;
  }
}
