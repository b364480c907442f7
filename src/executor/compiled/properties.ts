import type { WithBeside } from '../../db/writes/issue-beside.ts';
import { type GraphQLOutputType, isListType, isNonNullType } from 'graphql';
import { Bail, type Field, type Frame, newFrame, type Row } from './frame.ts';
import { writeList } from './json-writer.ts';
import type { Fetch, ObjectPlan } from './objects.ts';
import type { Run } from './run.ts';

/** The objects that a property holds, of all rows one after the other; `end` is below `start` where it holds none. */
interface PropertyPart {
  frame: Frame;
  start: Int32Array;
  end: Int32Array;
}

/** Objects within objects that a resolver gave: a payload's issue, the entries of a table. */
export class PropertyFetch implements Fetch {
  readonly #name: string;
  readonly #part: number;
  readonly #plan: ObjectPlan;

  constructor(name: string, part: number, plan: ObjectPlan) {
    this.#name = name;
    this.#part = part;
    this.#plan = plan;
  }

  fetch(frame: Frame, run: Run): Promise<void> | undefined {
    const flat: Row[] = [];
    const start = new Int32Array(frame.rows.length);
    const end = new Int32Array(frame.rows.length);
    frame.rows.forEach((row, place) => {
      const held = (row as Readonly<Record<string, unknown>>)[this.#name];
      start[place] = flat.length;
      if (Array.isArray(held)) flat.push(...(held as Row[]));
      else if (held !== null && held !== undefined) flat.push(held as Row);
      end[place] = held === null || held === undefined ? -1 : flat.length;
    });
    for (const row of flat) run.counted ??= (row as WithBeside).counted;
    const below = newFrame(run, flat, []);
    frame.parts[this.#part] = { frame: below, start, end } satisfies PropertyPart;
    return this.#plan.fetch(below, run);
  }
}

export function propertyField(key: string, type: GraphQLOutputType, part: number, plan: ObjectPlan): Field {
  const bare = isNonNullType(type) ? type.ofType : type;
  const isList = isListType(bare);
  /** Where the objects of a row stand; undefined where it holds none. */
  const placesOf = (frame: Frame, row: number) => {
    const { frame: below, start, end } = frame.parts[part] as PropertyPart;
    const from = start[row] ?? 0;
    const to = end[row] ?? -1;
    if (to >= from) return { below, from, to };
    if (isNonNullType(type)) throw new Bail('A field that cannot be null is.');
    return undefined;
  };
  return {
    key,
    write: (out, frame, row) => {
      const places = placesOf(frame, row);
      if (!places) return out.null();
      const { below, from, to } = places;
      if (!isList) return plan.write(out, below, from);
      return writeList(out, from, to, (at) => plan.write(out, below, at));
    },
    value: (frame, row) => {
      const places = placesOf(frame, row);
      if (!places) return null;
      const { below, from, to } = places;
      if (!isList) return plan.value(below, from);
      return Array.from({ length: to - from }, (_, place) => plan.value(below, from + place));
    },
  };
}
