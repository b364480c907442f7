import { getNullableType, type GraphQLOutputType, isListType, isNonNullType } from 'graphql';
import { Columns } from '../compile/columns.ts';
import { type Field, type Frame, newFrame, type Row } from '../run/frame.ts';
import { refuseNull } from './leaves.ts';
import type { Fetch, ObjectPlan } from '../compile/objects.ts';
import { type FieldContext, objectType } from '../compile/compile-context.ts';
import type { Run } from '../run/run.ts';
import { writeList } from '../writing/sink.ts';

/** The objects that the rows contain, in one array. `end` is -1 where a row contains null. */
interface NestedObjects {
  frame: Frame;
  start: Int32Array;
  end: Int32Array;
}

/** Reads the object, the list of objects, or the null that a row contains. */
type ReadNested = (frame: Frame, row: number) => unknown;

/** Objects that are values of their row: the object in a payload, the entries of a table, a list in a JSON column. */
export function nestedField(
  { context, responseName, field, nodes }: FieldContext,
  readNested: ReadNested,
): Field {
  const plan = context.compilation.compileObject(objectType(field), nodes, new Columns('resolved'));
  const fetchIndex = context.plan.newFetchIndex();
  context.plan.fetches.push(new NestedFetch(readNested, fetchIndex, plan));
  return objectsField(responseName, field.type, fetchIndex, plan);
}

class NestedFetch implements Fetch {
  readonly #read: ReadNested;
  readonly #fetchIndex: number;
  readonly #plan: ObjectPlan;

  constructor(readNested: ReadNested, fetchIndex: number, plan: ObjectPlan) {
    this.#read = readNested;
    this.#fetchIndex = fetchIndex;
    this.#plan = plan;
  }

  get showsOnlyWritten(): boolean {
    return this.#plan.showsOnlyWritten;
  }

  fetch(frame: Frame, run: Run): Promise<void> | undefined {
    const flat: Row[] = [];
    const start = new Int32Array(frame.rows.length);
    const end = new Int32Array(frame.rows.length);
    for (let index = 0; index < frame.rows.length; index += 1) {
      const nested = this.#read(frame, index);
      start[index] = flat.length;
      if (Array.isArray(nested)) flat.push(...(nested as Row[]));
      else if (nested !== null && nested !== undefined) flat.push(nested as Row);
      end[index] = nested === null || nested === undefined ? -1 : flat.length;
    }
    const below = newFrame(run, flat, []);
    frame.fetched[this.#fetchIndex] = { frame: below, start, end } satisfies NestedObjects;
    return this.#plan.fetch(below, run);
  }
}

function objectsField(
  responseName: string,
  type: GraphQLOutputType,
  fetchIndex: number,
  plan: ObjectPlan,
): Field {
  const nullable = getNullableType(type);
  const isList = isListType(nullable);
  const nestedOf = (frame: Frame) => frame.fetched[fetchIndex] as NestedObjects;
  const to = (frame: Frame, row: number) => nestedOf(frame).end[row] ?? -1;
  const from = (frame: Frame, row: number) => {
    if (to(frame, row) >= 0) return nestedOf(frame).start[row] ?? 0;
    if (isNonNullType(type)) refuseNull();
    return -1;
  };
  return {
    responseName,
    write: (out, frame, row) => {
      const first = from(frame, row);
      if (first < 0) return out.null();
      const { frame: below } = nestedOf(frame);
      if (!isList) return plan.write(out, below, first);
      return writeList(out, below, first, to(frame, row), plan.write);
    },
    below: { plan, fields: plan.fields, frame: (frame) => nestedOf(frame).frame, from, to },
  };
}
