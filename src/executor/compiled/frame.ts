import type { TextRow } from '../../db/wire/wire-row.ts';
import type { JsonWriter } from './json-writer.ts';
import type { Run } from './run.ts';

/** A row: the columns that were read, or an object that a resolver gave. */
export type Row = TextRow | Readonly<Record<string, unknown>>;

/**
 * The rows that one object selection of an operation stands for, of all its parents together. What the rows refer
 * to and what hangs on them is in `parts`, at the places that the compiler gave out.
 */
export interface Frame {
  readonly run: Run;
  readonly rows: readonly Row[];
  /** The types of the columns, as OIDs; empty when the rows are no texts. */
  readonly types: readonly number[];
  readonly parts: unknown[];
  /** Are these all rows of a cached table, in its own array. */
  readonly isTable: boolean;
  /** What the rows of a long answer come to, made before the rest of it. */
  ahead: readonly RowAhead[] | undefined;
}

/** One row with all below it, as the JSON or the value that the run makes, and how many objects that is. */
export interface RowAhead {
  readonly made: Uint8Array | Record<string, unknown>;
  readonly objects: number;
}

export function newFrame(
  run: Run,
  rows: readonly Row[],
  types: readonly number[],
  { isTable = false } = {},
): Frame {
  if (!isTable) run.rowsRead += rows.length;
  return { run, rows, types, parts: [], isTable, ahead: undefined };
}

/** A row of another frame for each row, by its index there; -1 where there is none. */
export interface Link {
  readonly frame: Frame;
  readonly at: Int32Array;
}

/** Several rows of other frames for each row: those from `start` to `end` of the group that the row belongs to. */
export interface Groups {
  readonly at: Int32Array;
  readonly start: Int32Array;
  readonly end: Int32Array;
}

/**
 * The operation cannot be answered here, for a reason that only the graphql-js executor can tell the client: it then
 * runs there from the start.
 */
export class Bail extends Error {}

/** The same for ids that a client has given: only graphql-js answers them, or says what is wrong with them. */
export class UnservedIds extends Bail {}

/** A field that no plan says how to answer: the operation runs on the graphql-js executor. */
export class NotCompilable extends Error {}

/** One field of an answer, as JSON and as a value: the same thing, for a face that sends it and one that reads it. */
export interface Field {
  readonly key: string;
  /** Set where it says nothing but what stands in its own row. */
  readonly ofRow?: true;
  write(out: JsonWriter, frame: Frame, row: number): void;
  value(frame: Frame, row: number): unknown;
}
