import { uuidArray } from '../../../db/statements/uuid-array.ts';
import { Prepared } from '../../../db/statements/prepared.ts';
import { keyQuery } from '../../../db/query/row-queries.ts';
import { isAlways, type Predicate } from '../../../db/query/conditions/predicate.ts';
import type { TableName } from '../../../db/tables/tables.ts';
import { textAt, WireRow } from '../../../db/wire/wire-row.ts';
import { testOf } from '../../../reference/conditions.ts';
import type { CachedTable } from '../../../reference/cached-table.ts';
import type { KeyIndex } from '../../../reference/key-index.ts';
import { Columns, type KeyColumn, type ReadText } from '../compile/columns.ts';
import { type Field, type Frame, type Link, newFrame, type Row } from '../run/frame.ts';
import { refuseNull } from './leaves.ts';
import { type Fetch, type ObjectPlan, startAll } from '../compile/objects.ts';
import { keysSlot, type Run } from '../run/run.ts';
import { columnIdentity, statement } from '../run/statements.ts';

/** The rows to which a field refers: rows of a table, which are found by one of its columns. */
export interface Target {
  table: TableName;
  by: string;
  where: Predicate;
}

interface Referrer {
  key: KeyColumn;
  fetchIndex: number;
  plan: ObjectPlan;
  /** What the referenced rows' frame needs and may be preloaded on the rows that refer to them. */
  preloads?: readonly Preload[];
}

/** Reads a value for a referenced row from the row that refers to it; undefined if it was not preloaded there. */
export interface Preload {
  /** The fetch of the value, which is needed if it is not preloaded. */
  readonly fetch: Fetch;
  readonly fetchIndex: number;
  readonly value: (row: Row) => unknown;
}

/** Fetches the rows of one table that all reference fields of an object refer to, with one statement. */
export class ReferenceFetch implements Fetch {
  readonly columns: Columns;
  readonly #target: Target;
  /** Whether every row of the table may be referred to. */
  readonly #refersToAll: boolean;
  readonly #by: number;
  readonly #referrers: Referrer[] = [];
  #statement: Prepared | undefined;

  constructor(target: Target) {
    this.#target = target;
    this.#refersToAll = isAlways(target.where);
    this.columns = new Columns({ of: target.table });
    this.#by = this.columns.include(target.by);
  }

  /** Adds a field that refers to such rows. */
  add(referrer: Referrer): void {
    this.#referrers.push(referrer);
  }

  get showsOnlyWritten(): boolean {
    if (!this.columns.isCached) return false;
    return this.#referrers.every(
      ({ plan, preloads = [] }) =>
        !plan.repeatsFields &&
        plan.fetches.every(
          (each) => each.showsOnlyWritten === true || preloads.some(({ fetch }) => fetch === each),
        ),
    );
  }

  fetch(frame: Frame, run: Run): Promise<void> | undefined {
    const { table: name, by } = this.#target;
    const table = run.cached?.table(name);
    const cached = table && this.#cached(run, table);
    if (!cached) return this.#read(frame, run).then((found) => this.#link(frame, run, found));
    if (!this.#refersToAll) return this.#link(frame, run, cached);
    return startAll(this.#referrers, (referrer) => {
      // Without fetches below, the frame can have all rows of the cached table, which saves collecting the referenced ones.
      if (referrer.plan.fetches.length > 0) return linkReferrer(referrer, frame, run, cached);
      frame.fetched[referrer.fetchIndex] = linkToTable(run, frame, referrer.key, table, table.index(by));
      return undefined;
    });
  }

  #link(frame: Frame, run: Run, found: RowLookup): Promise<void> | undefined {
    return startAll(this.#referrers, (referrer) => linkReferrer(referrer, frame, run, found));
  }

  async #read({ rows }: Frame, run: Run): Promise<RowLookup> {
    const keys = new Set<string>();
    for (const { key } of this.#referrers) {
      for (const row of rows) {
        const text = key.text(row);
        if (text !== null) keys.add(text);
      }
    }
    if (keys.size === 0) return { find: () => undefined, types: [] };
    const { table, by, where } = this.#target;
    const { selected } = this.columns;
    this.#statement ??= statement(
      ['by key', table, by, where, columnIdentity(selected)],
      () => new Prepared(keyQuery(run.queryBase(selected), table, by, where, keysSlot)),
    );
    const found = await run.rows(this.#statement, { keys: uuidArray(keys) });
    const byKey = new Map(found.rows.map((row) => [textAt(row, this.#by) ?? '', row]));
    return { find: (key) => byKey.get(key), types: found.types };
  }

  /** Finds rows in memory; undefined if the condition cannot be tested there. */
  #cached(run: Run, table: CachedTable): RowLookup | undefined {
    const { by, where } = this.#target;
    const test = this.#refersToAll || (run.cached && testOf(where, table, run.cached));
    if (!test) return undefined;
    return {
      types: table.types,
      find: (key) => {
        const [row] = table.by(by, key);
        if (!row) run.onMissingRow(key);
        return row && (test === true || test(row)) ? row : undefined;
      },
    };
  }
}

/** Finds referenced rows by their keys. */
interface RowLookup {
  find: (key: string) => Row | undefined;
  types: readonly number[];
}

function linkReferrer(
  { key, fetchIndex, plan, preloads = [] }: Referrer,
  frame: Frame,
  run: Run,
  { find, types }: RowLookup,
): Promise<void> | undefined {
  const link = linkToFound(run, frame, key.text, find, types);
  frame.fetched[fetchIndex] = link;
  for (const preload of preloads) fillPreloaded(link, frame.rows, preload);
  return plan.fetch(link.frame, run);
}

/** Sets what one fetch of the referenced rows' frame would find, if that value is preloaded for all of them. */
function fillPreloaded(
  { frame, rowIndexes }: Link,
  rows: readonly Row[],
  { fetchIndex, value }: Preload,
): void {
  const values: unknown[] = [];
  for (const [index, row] of rows.entries()) {
    const target = rowIndexes[index] ?? -1;
    if (target < 0) continue;
    const known = value(row);
    if (known === undefined) return;
    values[target] = known;
  }
  frame.fetched[fetchIndex] = values;
}

function linkToTable(
  run: Run,
  { rows }: Frame,
  key: KeyColumn,
  table: CachedTable,
  keyIndex: KeyIndex,
): Link {
  const rowIndexes = new Int32Array(rows.length).fill(-1);
  for (let index = 0; index < rows.length; index += 1) {
    const row = rows[index] as Row;
    const start = row instanceof WireRow && key.index !== undefined ? row.uuid(key.index) : undefined;
    if (start !== undefined) {
      rowIndexes[index] = keyIndex.ofBytes((row as WireRow).bytes, start);
    } else {
      const text = key.text(row);
      if (text === null) continue;
      rowIndexes[index] = keyIndex.ofText(text);
    }
    if (rowIndexes[index] === -1) run.onMissingRow(key.text(row) ?? '');
  }
  return { frame: newFrame(run, table.rows, table.types, { isWholeTable: true }), rowIndexes };
}

/** Collects the referenced rows, each once, and links each row to the one that it refers to. */
function linkToFound(
  run: Run,
  { rows }: Frame,
  key: ReadText,
  find: RowLookup['find'],
  types: readonly number[],
): Link {
  const rowIndexes = new Int32Array(rows.length).fill(-1);
  const known = new Map<string, number>();
  const referenced: Row[] = [];
  rows.forEach((row, index) => {
    const text = key(row);
    if (text === null) return;
    let target = known.get(text);
    if (target === undefined) {
      const found = find(text);
      target = found === undefined ? -1 : referenced.push(found) - 1;
      known.set(text, target);
    }
    rowIndexes[index] = target;
  });
  return { frame: newFrame(run, referenced, types), rowIndexes };
}

/** The field of a reference. */
export function linkedField(
  responseName: string,
  nullable: boolean,
  fetchIndex: number,
  plan: ObjectPlan,
): Field {
  const linkOf = (frame: Frame) => frame.fetched[fetchIndex] as Link;
  const from = (frame: Frame, row: number) => {
    const at = linkOf(frame).rowIndexes[row] ?? -1;
    if (at < 0 && !nullable) refuseNull();
    return at;
  };
  return {
    responseName,
    write: (out, frame, row) => {
      const { rowIndexes, frame: rows } = linkOf(frame);
      const target = rowIndexes[row] ?? -1;
      if (target >= 0) plan.write(out, rows, target);
      else if (nullable) out.null();
      else refuseNull();
    },
    below: {
      plan,
      fields: plan.fields,
      frame: (frame) => linkOf(frame).frame,
      from,
      to: (frame, row) => (linkOf(frame).rowIndexes[row] ?? -1) + 1,
    },
  };
}
