import type { PlanOf } from '../../../schema/builder/plan.ts';
import { WireRow } from '../../../db/wire/wire-row.ts';
import type { ReadText } from '../compile/columns.ts';
import { Bail, type Field, type Frame, type Link, type Row } from '../run/frame.ts';
import { ObjectPlan } from '../compile/objects.ts';
import { type CompileContext, type FieldContext, referenceFetch } from '../compile/compile-context.ts';
import { literalPiece, type Sink } from '../writing/sink.ts';

type ConcatenatedPlan = PlanOf<'concatenated'>;

/** Writes one piece of the string. */
type WritePiece = (out: Sink, frame: Frame, row: number) => void;

/** A string of literals and columns, whose bytes are copied from the cells. */
export function compileConcatenated({ context, responseName }: FieldContext, plan: ConcatenatedPlan): Field {
  const pieces = plan.pieces.map((piece) => {
    if (typeof piece === 'string') {
      const text = literalPiece(piece);
      return (out: Sink) => out.literalInString(text);
    }
    return 'of' in piece
      ? referencedColumn(context, plan, piece.of, piece.column)
      : ownColumn(context, piece.column);
  });
  return {
    responseName,
    write: (out, frame, row) => {
      out.beginString();
      for (const write of pieces) write(out, frame, row);
      out.endString();
    },
  };
}

function ownColumn({ plan }: CompileContext, column: string): WritePiece {
  const { text, index } = plan.columns.key(column);
  return (out, { rows }, at) => {
    const row = rows[at] as Row;
    if (!(row instanceof WireRow) || index === undefined || !row.isText(index))
      return out.inString(requirePiece(text(row)));
    const start = row.find(index);
    if (start < 0) throw missingPiece();
    out.utf8InString(row.bytes, start, row.end);
  };
}

function referencedColumn(
  context: CompileContext,
  { references }: ConcatenatedPlan,
  name: string,
  column: string,
): WritePiece {
  const { key, ...target } = references[name] as ConcatenatedPlan['references'][string];
  const fetch = referenceFetch(context, target);
  const fetchIndex = context.plan.newFetchIndex();
  const read: ReadText = fetch.columns.reader(column);
  fetch.add({ key: context.plan.columns.key(key), fetchIndex, plan: new ObjectPlan('', fetch.columns) });
  return (out, frame, row) => {
    const link = frame.fetched[fetchIndex] as Link;
    const found = link.frame.rows[link.rowIndexes[row] ?? -1];
    out.inString(requirePiece(found ? read(found) : null));
  };
}

/** graphql-js then answers with an error or with null. */
const missingPiece = () => new Bail('A piece of a string is missing.');

function requirePiece(text: string | null): string {
  if (text === null) throw missingPiece();
  return text;
}
