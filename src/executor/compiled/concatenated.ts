import type { Plan } from '../../schema/builder/plan.ts';
import { WireRow } from '../../db/wire/wire-row.ts';
import type { Read } from './columns.ts';
import { Bail, type Field, type Frame, type Link, type Row } from './frame.ts';
import type { JsonWriter } from './json-writer.ts';
import { ObjectPlan } from './objects.ts';
import { type CompileContext, referenceFetch } from './compile-context.ts';

type ConcatenatedPlan = Extract<Plan, { kind: 'concatenated' }>;

/** One piece of the text: how it is written into a JSON string, and the text itself. */
interface Piece {
  write(out: JsonWriter, frame: Frame, row: number): void;
  text(frame: Frame, row: number): string;
}

/** A text made of pieces of rows, whose bytes are copied as they came. */
export function concatenatedField(context: CompileContext, key: string, plan: ConcatenatedPlan): Field {
  const pieces = plan.pieces.map((piece) => {
    if (typeof piece === 'string') return literal(piece);
    return 'of' in piece ? referred(context, plan, piece.of, piece.column) : own(context, piece.column);
  });
  return {
    key,
    write: (out, frame, row) => {
      out.beginString();
      for (const piece of pieces) piece.write(out, frame, row);
      out.endString();
    },
    value: (frame, row) => pieces.map((piece) => piece.text(frame, row)).join(''),
  };
}

function literal(text: string): Piece {
  const json = Buffer.from(JSON.stringify(text).slice(1, -1));
  return { write: (out) => out.bytes(json), text: () => text };
}

function own({ plan }: CompileContext, column: string): Piece {
  const { text, place } = plan.columns.key(column);
  return {
    write: (out, { rows }, at) => {
      const row = rows[at] as Row;
      if (!(row instanceof WireRow) || place === undefined || !row.isText(place))
        return out.inString(present(text(row)));
      const start = row.find(place);
      if (start < 0) throw missing();
      out.utf8InString(row.bytes, start, row.end);
    },
    text: ({ rows }, at) => present(text(rows[at] as Row)),
  };
}

function referred(
  context: CompileContext,
  { references }: ConcatenatedPlan,
  name: string,
  column: string,
): Piece {
  const { key, ...target } = references[name] as ConcatenatedPlan['references'][string];
  const fetch = referenceFetch(context, target);
  const part = context.plan.newPart();
  const read: Read = fetch.columns.reader(column);
  fetch.add({ key: context.plan.columns.key(key), part, plan: new ObjectPlan('', fetch.columns) });
  const text = (frame: Frame, row: number) => {
    const link = frame.parts[part] as Link;
    const found = link.frame.rows[link.at[row] ?? -1];
    return present(found ? read(found) : null);
  };
  return { write: (out, frame, row) => out.inString(text(frame, row)), text };
}

/** graphql-js decides what the text is without one of its pieces. */
const missing = () => new Bail('A piece of a text is missing.');

function present(text: string | null): string {
  if (text === null) throw missing();
  return text;
}
