import type { ObjectsBelow, Field, Frame } from '../run/frame.ts';
import { maxAnswerBytes } from '../../limits.ts';
import { JsonWriter, type WrittenAnswer } from './json-writer.ts';
import type { ObjectPlan } from '../compile/objects.ts';

/** Writes certain objects of an answer that otherwise consists of values: as JSON that the caller defines. */
export interface RowRenderer {
  /** The response names that lead from the root of the operation to the objects. */
  readonly path: readonly string[];
  /** Compiles the renderer for the plan of the objects; undefined if the plan does not select what it needs. */
  compile(plan: ObjectPlan): WriteRow | undefined;
}

/** Writes one object, and returns the value that represents it in the answer. `range` is where its JSON is. */
export type WriteRow = (out: JsonWriter, frame: Frame, row: number, range: JsonRange) => unknown;

/** The range of an object's JSON in that of all objects. */
export interface JsonRange {
  readonly of: WrittenRows;
  readonly start: number;
  readonly end: number;
}

/**
 * The JSON of objects that are written in one turn of the event loop, one after another and separated by commas, so that the
 * JSON of a list's objects is one range of it.
 */
export class WrittenRows {
  readonly #writer = new JsonWriter();
  #written: WrittenAnswer = nothing;
  #rowsThatFit = 0;

  /** How many of the objects so far are within the limit of an answer. */
  get rowsThatFit(): number {
    return this.#rowsThatFit;
  }

  /** Writes an object. Returns the value that represents it in the answer, and the length of its JSON. */
  add(write: WriteRow, frame: Frame, row: number): { value: unknown; length: number } {
    const writer = this.#writer;
    if (writer.length > 0) writer.separate();
    const range = { of: this, start: writer.length, end: 0 };
    const value = write(writer, frame, row, range);
    range.end = writer.length;
    if (range.end <= maxAnswerBytes) this.#rowsThatFit += 1;
    return { value, length: range.end - range.start };
  }

  /** Copies the JSON. It must be called in the same turn of the event loop, because other answers use the same buffer. */
  finish(): void {
    this.#written = this.#writer.finish(envelopeRoom);
  }

  /** The JSON from the first object to the last one, with what is between them. */
  json({ start }: JsonRange, { end }: JsonRange): Uint8Array {
    return this.#written.bytes.subarray(start, end);
  }

  /**
   * The JSON of all objects with `before` and `after` around it. They are written into the space around it, so that a long page
   * need not be copied. Undefined if the range leaves objects out, or if the space does not suffice.
   */
  enclosed(
    { start }: JsonRange,
    { end }: JsonRange,
    before: Uint8Array,
    after: Uint8Array,
  ): WrittenAnswer | undefined {
    const { bytes, release } = this.#written;
    const isAll = start === 0 && end === bytes.length;
    if (!isAll || before.length > envelopeRoom || after.length > envelopeRoom) return undefined;
    const first = bytes.byteOffset - before.length;
    const enclosed = Buffer.from(bytes.buffer, first, before.length + bytes.length + after.length);
    enclosed.set(before);
    enclosed.set(after, before.length + bytes.length);
    return { bytes: enclosed, release };
  }
}

/** The bytes that are reserved before and after the rows, for the JSON of a REST page around them, which is shorter. */
const envelopeRoom = 1_024;
const nothing: WrittenAnswer = { bytes: Buffer.alloc(0), release: () => undefined };

/** A renderer that is compiled for the objects of one plan. */
export interface CompiledRowRenderer {
  readonly plan: ObjectPlan;
  readonly write: WriteRow;
  /** Counts the objects below a row. */
  readonly objectsBelow: CountObjects;
}

type CountObjects = (frame: Frame, row: number) => number;

const compiled = new WeakMap<RowRenderer, WeakMap<ObjectPlan, CompiledRowRenderer | null>>();

/** The renderer for the plan of an operation; undefined if its objects have to be values. */
export function compileRowRenderer(renderer: RowRenderer, root: ObjectPlan): CompiledRowRenderer | undefined {
  let byPlan = compiled.get(renderer);
  if (!byPlan) compiled.set(renderer, (byPlan = new WeakMap()));
  const known = byPlan.get(root);
  if (known !== undefined) return known ?? undefined;
  const plan = planAt(root, renderer.path);
  // A fixed plan may be shared with another selection of the operation, whose objects must be values.
  const write = plan && !plan.isFixed ? renderer.compile(plan) : undefined;
  const result = plan && write && { plan, write, objectsBelow: objectCounter(plan.fields) ?? none };
  byPlan.set(root, result ?? null);
  return result;
}

function planAt(root: ObjectPlan, path: readonly string[]): ObjectPlan | undefined {
  let fields: readonly Field[] = root.fields;
  let below: ObjectsBelow | undefined;
  for (const name of path) {
    below = fields.find(({ responseName }) => responseName === name)?.below;
    if (!below) return undefined;
    ({ fields } = below);
  }
  return below?.plan;
}

const none: CountObjects = () => 0;

/** Makes a function that counts the objects below a row without writing them; undefined if no field shows objects. */
function objectCounter(fields: readonly Field[]): CountObjects | undefined {
  const counters = fields.flatMap(({ below }) =>
    below ? [{ below, inner: objectCounter(below.fields) }] : [],
  );
  if (counters.length === 0) return undefined;
  return (frame, row) => {
    let objects = 0;
    for (const { below, inner } of counters) {
      const from = below.from(frame, row);
      if (from < 0) continue;
      const to = below.to(frame, row);
      if (below.plan) objects += to - from;
      if (!inner) continue;
      const rows = below.frame(frame);
      for (let at = from; at < to; at += 1) objects += inner(rows, at);
    }
    return objects;
  };
}
