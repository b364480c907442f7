import { WireRow } from '../../db/wire/wire-row.ts';
import type { Columns } from './columns.ts';
import type { Field, Frame } from './frame.ts';
import { headsOf, type JsonWriter } from './json-writer.ts';
import { RowTexts } from './row-texts.ts';
import type { Run } from './run.ts';

/** Brings what hangs on the rows of a frame into its parts, and so on down; a promise only of what is to be waited for. */
export interface Fetch {
  fetch(frame: Frame, run: Run): Promise<void> | undefined;
}

/** Goes side by side with what does not wait for it; a promise only if anything is to be waited for. */
export function together<Item>(
  items: readonly Item[],
  start: (item: Item, place: number) => Promise<void> | undefined,
): Promise<void> | undefined {
  let waiting: Promise<void>[] | undefined;
  for (let place = 0; place < items.length; place += 1) {
    let going: Promise<void> | undefined;
    try {
      going = start(items[place] as Item, place);
    } catch (error) {
      // What has been started is waited for as ever: nobody else would hear that it fails, too.
      going = Promise.reject(error);
    }
    if (going) (waiting ??= []).push(going);
  }
  if (!waiting || waiting.length === 1) return waiting?.[0];
  return Promise.all(waiting).then(() => undefined);
}

/** The selection on one type of object: what to fetch for its rows, and how each is written. */
export class ObjectPlan {
  readonly typeName: string;
  readonly columns: Columns;
  readonly fields: Field[] = [];
  readonly fetches: Fetch[] = [];
  /** Mutations follow each other, each with all that its answer reads. */
  isSerial = false;
  #parts = 0;
  #heads: readonly Uint8Array[] | undefined;
  #texts: RowTexts | null | undefined;

  constructor(typeName: string, columns: Columns) {
    this.typeName = typeName;
    this.columns = columns;
  }

  /** A place in the parts of this plan's frames. */
  newPart(): number {
    this.#parts += 1;
    return this.#parts - 1;
  }

  /** Fetches for all rows of the frame at once; what does not wait for each other goes side by side. */
  fetch(frame: Frame, run: Run): Promise<void> | undefined {
    if (frame.rows.length === 0) return undefined;
    if (this.isSerial) return this.#oneByOne(frame, run);
    return together(this.fetches, (each) => each.fetch(frame, run));
  }

  async #oneByOne(frame: Frame, run: Run): Promise<void> {
    for (const each of this.fetches) await each.fetch(frame, run);
  }

  write(out: JsonWriter, frame: Frame, row: number): void {
    const ahead = frame.ahead?.[row];
    if (ahead?.made instanceof Uint8Array) {
      frame.run.objects += ahead.objects;
      return out.bytes(ahead.made);
    }
    frame.run.objects += 1;
    // Known when the plan is whole, which it is before it writes anything.
    if (this.#texts === undefined) this.#texts = this.isFixed ? new RowTexts() : null;
    if (this.#texts === null || (!frame.isTable && frame.rows[row] instanceof WireRow))
      return this.#write(out, frame, row);
    const known = this.#texts.get(frame, row);
    if (known) return out.bytes(known);
    const start = out.length;
    this.#write(out, frame, row);
    this.#texts.set(frame, row, out.since(start));
  }

  #write(out: JsonWriter, frame: Frame, row: number): void {
    this.#heads ??= headsOf(this.fields);
    const { fields } = this;
    for (let place = 0; place < fields.length; place += 1) {
      out.bytes(this.#heads[place] as Uint8Array);
      (fields[place] as Field).write(out, frame, row);
    }
    out.endObject(fields.length);
  }

  /** Does nothing but the row say what is written, and does the row stay as it is. */
  get isFixed(): boolean {
    return (
      this.columns.isCached && this.fetches.length === 0 && this.fields.every(({ ofRow }) => ofRow === true)
    );
  }

  value(frame: Frame, row: number): Record<string, unknown> {
    const ahead = frame.ahead?.[row];
    if (ahead && !(ahead.made instanceof Uint8Array)) {
      frame.run.objects += ahead.objects;
      return ahead.made;
    }
    frame.run.objects += 1;
    const value: Record<string, unknown> = {};
    for (const field of this.fields) value[field.key] = field.value(frame, row);
    return value;
  }
}
