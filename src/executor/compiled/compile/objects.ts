import type { Columns } from './columns.ts';
import type { Field, Frame } from '../run/frame.ts';
import { RowTexts } from '../writing/row-texts.ts';
import type { Run } from '../run/run.ts';
import { type FieldName, fieldNames, type Sink } from '../writing/sink.ts';

/** Reads what one or more fields need, for all rows of a frame at once, into `fetched` of the frame, and everything below. */
export interface Fetch {
  /** Returns a promise only if there is something to wait for. */
  fetch(frame: Frame, run: Run): Promise<void> | undefined;
  /**
   * Whether it reads nothing but rows that a write returned, values that the write preloaded, and reference data.
   */
  readonly showsOnlyWritten?: boolean;
  /** Whether it waits for something to happen in this run. */
  waits?(run: Run): boolean;
}

/** Starts all items before it waits for any. Returns a promise only if there is something to wait for. */
export function startAll<Item>(
  items: readonly Item[],
  start: (item: Item, index: number) => Promise<void> | undefined,
): Promise<void> | undefined {
  let waiting: Promise<void>[] | undefined;
  for (let index = 0; index < items.length; index += 1) {
    let started: Promise<void> | undefined;
    try {
      started = start(items[index] as Item, index);
    } catch (error) {
      // The items that were started are still waited for: otherwise their rejections would be unhandled.
      started = Promise.reject(error);
    }
    if (started) (waiting ??= []).push(started);
  }
  if (!waiting || waiting.length === 1) return waiting?.[0];
  return Promise.all(waiting).then(() => undefined);
}

/** The selection on one type of object: what to fetch for its rows, and how each row is written. */
export class ObjectPlan {
  readonly typeName: string;
  readonly columns: Columns;
  readonly fields: Field[] = [];
  readonly fetches: Fetch[] = [];
  /** Whether a field is selected under two names, so that only the length of the document bounds that of the answer. */
  repeatsFields = false;
  /** Set on mutations: each root field is fetched, with everything below it, before the next one. */
  isSerial = false;
  /** Set on queries with a field that may wait for something to happen. */
  mayWait = false;
  #fetchCount = 0;
  #names: readonly FieldName[] | undefined;
  #texts: RowTexts | null | undefined;

  constructor(typeName: string, columns: Columns) {
    this.typeName = typeName;
    this.columns = columns;
  }

  /** An index into `fetched` of this plan's frames. */
  newFetchIndex(): number {
    this.#fetchCount += 1;
    return this.#fetchCount - 1;
  }

  /** Fetches for all rows of the frame at once; the fetches run concurrently. */
  fetch(frame: Frame, run: Run): Promise<void> | undefined {
    if (frame.rows.length === 0) return undefined;
    if (this.isSerial) return this.#oneByOne(frame, run);
    if (this.mayWait) return this.#waitingLast(frame, run);
    return startAll(this.fetches, (each) => each.fetch(frame, run));
  }

  /** While a fetch waits, the request is not in progress, so no other fetch of it may read. */
  async #waitingLast(frame: Frame, run: Run): Promise<void> {
    const { last = [], first = [] } = Object.groupBy(this.fetches, (each) =>
      each.waits?.(run) ? 'last' : 'first',
    );
    await startAll(first, (each) => each.fetch(frame, run));
    await startAll(last, (each) => each.fetch(frame, run));
  }

  async #oneByOne(frame: Frame, run: Run): Promise<void> {
    for (const each of this.fetches) await each.fetch(frame, run);
  }

  readonly write = (out: Sink, frame: Frame, row: number): void => {
    const prewritten = frame.prewritten?.[row];
    if (prewritten) {
      frame.run.objects += prewritten.objects;
      return out.literal(prewritten.written);
    }
    frame.run.objects += 1;
    const { rowRenderer } = frame.run;
    if (rowRenderer?.plan === this) return out.literal(frame.run.writtenRow(rowRenderer, frame, row));
    const { writer } = out;
    // The plan is complete before it writes its first row.
    if (this.#texts === undefined) this.#texts = this.isFixed ? new RowTexts() : null;
    if (writer && this.#texts) this.#texts.write(writer, frame, row, this.#write);
    else this.#write(out, frame, row);
  };

  readonly #write = (out: Sink, frame: Frame, row: number): void => {
    const names = (this.#names ??= fieldNames(this.fields.map(({ responseName }) => responseName)));
    const { fields } = this;
    out.beginObject();
    for (let index = 0; index < fields.length; index += 1) {
      out.name(names[index] as FieldName);
      (fields[index] as Field).write(out, frame, row);
    }
    out.endObject();
  };

  /** Whether all its fetches read only what a write returned, and it selects no field twice. */
  get showsOnlyWritten(): boolean {
    return !this.repeatsFields && this.fetches.every(({ showsOnlyWritten }) => showsOnlyWritten === true);
  }

  /** Whether a row is always written as the same bytes: it is cached, and all fields depend on nothing else. */
  get isFixed(): boolean {
    return (
      this.columns.isCached &&
      this.fetches.length === 0 &&
      this.fields.every(({ dependsOnlyOnRow }) => dependsOnlyOnRow === true)
    );
  }
}
