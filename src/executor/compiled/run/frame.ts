import type { TextRows } from '../../../db/engine/borrowed-connection.ts';
import type { TextRow } from '../../../db/wire/wire-row.ts';
import type { ObjectPlan } from '../compile/objects.ts';
import type { Run } from './run.ts';
import type { Literal, Sink } from '../writing/sink.ts';

/** A row: columns that a statement read, or an object that a resolver returned. */
export type Row = TextRow | Readonly<Record<string, unknown>>;

/**
 * The rows that one object selection of an operation shows, of all its parents together. Each fetch of the selection
 * puts what it found into `fetched`, at the index that the compiler gave it.
 */
export interface Frame {
  readonly run: Run;
  readonly rows: readonly Row[];
  /** The types of the columns, as OIDs; empty where a resolver returned the rows. */
  readonly types: readonly number[];
  readonly fetched: unknown[];
  /** Whether `rows` is the array of a cached table, with all its rows. */
  readonly isWholeTable: boolean;
  /** The page below the only row, if the same statement has read it; `fetchIndex` is that of its fetch. */
  readWithRow: { readonly fetchIndex: number; readonly rows: TextRows } | undefined;
  /** The rows of a long answer, written before the rest of it. */
  prewritten: readonly PrewrittenRow[] | undefined;
}

/** One row with everything below it, written in the form of the run, and the number of objects in it. */
export interface PrewrittenRow {
  readonly written: Literal;
  readonly objects: number;
}

export function newFrame(
  run: Run,
  rows: readonly Row[],
  types: readonly number[],
  { isWholeTable = false } = {},
): Frame {
  if (!isWholeTable) run.rowsRead += rows.length;
  return { run, rows, types, fetched: [], isWholeTable, readWithRow: undefined, prewritten: undefined };
}

/** Links each row of a frame to at most one row of another frame, whose index is in `rowIndexes`, or -1. */
export interface Link {
  readonly frame: Frame;
  readonly rowIndexes: Int32Array;
}

/** For each row, a group of rows of another frame: those from `start` up to, but not including, `end` of the group. */
export interface Groups {
  /** The index of each row's group. */
  readonly groupIndexes: Int32Array;
  readonly start: Int32Array;
  readonly end: Int32Array;
}

/** The compiled executor cannot answer the operation. graphql-js answers it, perhaps with an error. */
export class Bail extends Error {}

/** A client sent ids that only graphql-js resolves or refuses. */
export class UnsupportedIds extends Bail {}

/** A field cannot be answered from a plan, so graphql-js runs the operation. */
export class NotCompilable extends Error {}

/** One field of an answer. */
export interface Field {
  readonly responseName: string;
  /** Set if the value depends on nothing but the row. */
  readonly dependsOnlyOnRow?: true;
  write(out: Sink, frame: Frame, row: number): void;
  /** The objects of the field, for callers that write them in another form. */
  readonly below?: ObjectsBelow;
  /** The same field of an enum, with other literals for the names. */
  readonly renamed?: (literalOf: (name: string) => Literal) => Field;
}

/** The objects below a field: rows of another frame, from `from` up to, but not including, `to`. */
export interface ObjectsBelow {
  readonly fields: readonly Field[];
  /** The plan of the objects; undefined for a connection, which does not count as an object. */
  readonly plan: ObjectPlan | undefined;
  frame(frame: Frame): Frame;
  /** -1 if the field is null; throws Bail if it must not be. */
  from(frame: Frame, row: number): number;
  to(frame: Frame, row: number): number;
}
