import type { Field, Frame } from '../executor/compiled/run/frame.ts';
import type { JsonWriter, WrittenAnswer } from '../executor/compiled/writing/json-writer.ts';
import type { ObjectPlan } from '../executor/compiled/compile/objects.ts';
import type { JsonRange, RowRenderer, WrittenRows } from '../executor/compiled/writing/row-renderer.ts';
import { RowTexts } from '../executor/compiled/writing/row-texts.ts';
import {
  type FieldName,
  fieldNames,
  type Literal,
  literalOf,
  writeList,
} from '../executor/compiled/writing/sink.ts';
import { ValueSink } from '../executor/compiled/writing/value-sink.ts';
import type { Field as ShapeField, Shape, ShapeFields } from './shape.ts';

/** A resource as the JSON of its shape. It replaces the resource in the data of an operation. */
export class WrittenResource {
  readonly revision: number | undefined;
  readonly #range: JsonRange;

  constructor(range: JsonRange, revision: number | undefined) {
    this.#range = range;
    this.revision = revision;
  }

  /** The JSON of resources with commas between them, from `before` to `after`. */
  static answer(
    resources: readonly [WrittenResource, ...WrittenResource[]],
    before: Uint8Array = empty,
    after: Uint8Array = empty,
  ): WrittenAnswer {
    const groups = adjacentObjects(resources.map((resource) => resource.#range));
    const [only] = groups;
    const enclosed = groups.length === 1 && only && only.of.enclosed(only.first, only.last, before, after);
    if (enclosed) return enclosed;
    const parts = groups.flatMap(({ of, first, last }, index) => [
      index === 0 ? before : comma,
      of.json(first, last),
    ]);
    return { bytes: Buffer.concat([...parts, after]), release: () => undefined };
  }
}

/** Objects that were written one after another, so that their JSON with the commas is one range. */
interface AdjacentObjects {
  readonly of: WrittenRows;
  readonly first: JsonRange;
  last: JsonRange;
}

function adjacentObjects(ranges: readonly JsonRange[]): AdjacentObjects[] {
  const groups: AdjacentObjects[] = [];
  for (const range of ranges) {
    const group = groups.at(-1);
    if (group?.of === range.of) group.last = range;
    else groups.push({ of: range.of, first: range, last: range });
  }
  return groups;
}

const empty = new Uint8Array();
const comma = Buffer.from(',');

type Write = (out: JsonWriter, frame: Frame, row: number) => void;

/** Renders the resources that a shape describes, which are at a path of the operation's data. */
export function shapeRenderer<Source>(
  { fields, revision }: Pick<Shape<Source>, 'fields' | 'revision'>,
  path: readonly string[],
): RowRenderer {
  return {
    path,
    compile: (plan) => {
      const write = objectWriter(fields, plan.fields, plan);
      const revisionField = plan.fields.find(({ responseName }) => responseName === revision);
      if (!write || (revision !== undefined && !revisionField)) return undefined;
      return (out, frame, row, range) => {
        write(out, frame, row);
        return new WrittenResource(range, revisionField && Number(valueOf(revisionField, frame, row)));
      };
    },
  };
}

/** Writes the fields of a shape in its order; undefined if the plan does not have one of them. */
function objectWriter(
  shape: ShapeFields,
  fields: readonly Field[],
  plan: ObjectPlan | undefined,
): Write | undefined {
  const names = fieldNames(shape.map(([name]) => name));
  const writers = shape.map(([, field]) => fieldWriter(field, fields));
  if (!writers.every((writer) => writer !== undefined)) return undefined;
  const write: Write = (out, frame, row) => {
    out.beginObject();
    for (let index = 0; index < writers.length; index += 1) {
      out.name(names[index] as FieldName);
      (writers[index] as Write)(out, frame, row);
    }
    out.endObject();
  };
  return plan?.isFixed ? withCachedRows(write) : write;
}

/** Caches the JSON of each row. All fields of the row's plan must be fixed. */
function withCachedRows(write: Write): Write {
  const texts = new RowTexts();
  return (out, frame, row) => texts.write(out, frame, row, write);
}

function fieldWriter(field: ShapeField, fields: readonly Field[]): Write | undefined {
  const { steps, rendering } = field;
  const [step, ...remaining] = steps;
  const ifNullLiteral = literalOf(field.ifNull);
  if (step === undefined)
    return rendering.kind === 'object' ? objectWriter(rendering.fields, fields, undefined) : undefined;
  const found = fields.find(({ responseName }) => responseName === step);
  if (!found) return undefined;
  if (remaining.length === 0) return valueWriter(field, found, ifNullLiteral);
  const { below } = found;
  const writer = below && fieldWriter({ ...field, steps: remaining }, below.fields);
  if (!writer) return undefined;
  const inner = below.plan?.isFixed ? withCachedRows(writer) : writer;
  return (out, frame, row) => {
    const index = below.from(frame, row);
    if (index < 0) out.literal(ifNullLiteral);
    else inner(out, below.frame(frame), index);
  };
}

function valueWriter(
  { rendering, ifNull }: ShapeField,
  field: Field,
  ifNullLiteral: Literal,
): Write | undefined {
  switch (rendering.kind) {
    case 'value':
      return ifNull === null
        ? (out, frame, row) => field.write(out, frame, row)
        : writeOrIfNull(field, ifNullLiteral);
    case 'prefixed':
      return (out, frame, row) => {
        const value = valueOf(field, frame, row);
        if (typeof value === 'string') out.string(`${rendering.prefix}${value}`);
        else out.literal(ifNullLiteral);
      };
    case 'enum': {
      const literals = new Map(Array.from(rendering.values, ([name, each]) => [name, literalOf(each)]));
      const renamed = field.renamed?.((name) => literals.get(name) ?? unknownName(name));
      return renamed && writeOrIfNull(renamed, ifNullLiteral);
    }
    case 'object':
    case 'objects':
      return objectsWriter(rendering, field, ifNullLiteral);
  }
}

function writeOrIfNull(field: Field, ifNullLiteral: Literal): Write {
  return (out, frame, row) => {
    const start = out.length;
    field.write(out, frame, row);
    if (!out.isNullSince(start)) return;
    out.rewind(start);
    out.literal(ifNullLiteral);
  };
}

function objectsWriter(
  { kind, fields }: Extract<ShapeField['rendering'], { kind: 'object' | 'objects' }>,
  { below }: Field,
  ifNullLiteral: Literal,
): Write | undefined {
  const write = below && objectWriter(fields, below.fields, below.plan);
  if (!write) return undefined;
  return (out, frame, row) => {
    const from = below.from(frame, row);
    if (from < 0) return out.literal(ifNullLiteral);
    const rows = below.frame(frame);
    if (kind === 'object') return write(out, rows, from);
    return writeList(out, rows, from, below.to(frame, row), write);
  };
}

function unknownName(name: string): never {
  throw new Error(`The enum has no name ${name}.`);
}

function valueOf(field: Field, frame: Frame, row: number): unknown {
  const out = new ValueSink();
  field.write(out, frame, row);
  return out.finish();
}
