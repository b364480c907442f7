import type { Columns } from './columns.ts';
import { quoted } from './leaves.ts';
import type { Field, Frame } from './frame.ts';
import type { Run } from './run.ts';

/** Brings what hangs on the rows of a frame into its parts, and so on down. */
export interface Fetch {
  fetch(frame: Frame, run: Run): Promise<void>;
}

/** The selection on one type of object: what to fetch for its rows, and how each is written. */
export class ObjectPlan {
  readonly typeName: string;
  readonly columns: Columns;
  readonly fields: Field[] = [];
  readonly fetches: Fetch[] = [];
  #parts = 0;
  #heads: readonly string[] | undefined;

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
  async fetch(frame: Frame, run: Run): Promise<void> {
    if (this.fetches.length === 0 || frame.rows.length === 0) return;
    await Promise.all(this.fetches.map((each) => each.fetch(frame, run)));
  }

  text(frame: Frame, row: number): string {
    frame.run.objects += 1;
    this.#heads ??= this.fields.map(({ key }, place) => `${place === 0 ? '{' : ','}${quoted(key)}:`);
    let text = '';
    for (let place = 0; place < this.fields.length; place += 1) {
      text += (this.#heads[place] as string) + (this.fields[place] as Field).text(frame, row);
    }
    return text === '' ? '{}' : `${text}}`;
  }

  value(frame: Frame, row: number): Record<string, unknown> {
    frame.run.objects += 1;
    const value: Record<string, unknown> = {};
    for (const field of this.fields) value[field.key] = field.value(frame, row);
    return value;
  }
}
