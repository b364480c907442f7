import { decodeText } from '../../db/decoded-types.ts';
import { type ChildSource, countsQuery, linksQuery, type ListOrder, listsQuery } from '../../db/page.ts';
import type { Predicate, Through } from '../../db/predicate.ts';
import { Prepared, uuidArray } from '../../db/prepared.ts';
import { arrayEntries } from '../../db/derived-columns.ts';
import { existsQuery, sumsQuery } from '../../db/row-queries.ts';
import type { TableName } from '../../db/tables.ts';
import { testOf } from '../../reference/conditions.ts';
import { type Joined, joinedLists, keptLinks, linkColumns } from '../../reference/lists.ts';
import { Columns, type Read } from './columns.ts';
import { type Frame, type Groups, newFrame, type Row } from './frame.ts';
import type { Fetch, ObjectPlan } from './objects.ts';
import { keysSlot, type Run, viewerSlot } from './run.ts';

/** The distinct keys of a frame's rows, and which of them each row has. */
export function distinctKeys({ rows }: Frame, key: Read): { keys: string[]; at: Int32Array } {
  const keys: string[] = [];
  const places = new Map<string, number>();
  const at = new Int32Array(rows.length);
  rows.forEach((row, index) => {
    const text = key(row) ?? '';
    let place = places.get(text);
    if (place === undefined) {
      place = keys.push(text) - 1;
      places.set(text, place);
    }
    at[index] = place;
  });
  return { keys, at };
}

/** What several views show of the rows in a plain list. */
export interface ListPart extends Groups {
  frames: Frame[];
}

/** Plain lists of children under all rows of a frame, by one statement; several fields may show of them. */
export class ListFetch implements Fetch {
  readonly columns: Columns;
  readonly part: number;
  readonly #source: ChildSource;
  readonly #orderBy: readonly ListOrder[];
  readonly #key: Read;
  readonly #joined: Read | undefined;
  readonly #views: ObjectPlan[] = [];
  #statement: Prepared | undefined;
  #linkStatement: Prepared | undefined;

  /** `joined` reads what the statement of the parents says of who is joined to them, where it can. */
  constructor(
    source: ChildSource,
    orderBy: readonly ListOrder[],
    { key, joined, part }: { key: Read; joined: Read | undefined; part: number },
  ) {
    this.#joined = joined;
    this.columns = new Columns({ of: source.table });
    this.#source = source;
    this.#orderBy = orderBy;
    this.#key = key;
    this.part = part;
  }

  /** Another selection on the listed rows; its frame is at this place of the part's frames. */
  view(plan: ObjectPlan): number {
    return this.#views.push(plan) - 1;
  }

  async fetch(frame: Frame, run: Run): Promise<void> {
    const { keys, at } = distinctKeys(frame, this.#key);
    const { lists, types } = (await this.#kept(frame, keys, run)) ?? (await this.#read(keys, run));
    const { flat, start, end } = flatten(keys.map((key) => lists.get(key) ?? []));
    const frames = this.#views.map(() => newFrame(run, flat, types));
    frame.parts[this.part] = { at, start, end, frames } satisfies ListPart;
    await Promise.all(this.#views.map((view, place) => view.fetch(frames[place] as Frame, run)));
  }

  async #read(keys: readonly string[], run: Run): Promise<Lists> {
    this.#statement ??= new Prepared(
      listsQuery(run.reading(this.columns.read), this.#source, this.#orderBy, keysSlot),
    );
    const { rows, types } = await run.rows(this.#statement, { keys: uuidArray(keys) });
    return { lists: Map.groupBy(rows, (row) => row.at(-1) ?? ''), types };
  }

  /** From memory, where the rows are kept; who is joined to whom is read unless that is kept as well. */
  async #kept(frame: Frame, keys: readonly string[], run: Run): Promise<Lists | undefined> {
    const { table: name, where, parent } = this.#source;
    const table = run.kept?.table(name);
    const test = table && run.kept && testOf(where, table, run.kept);
    if (!table || !test) return undefined;
    const through =
      'through' in parent
        ? parent.through
        : { table: name, parent: parent.column, child: 'id', target: name, by: 'id' };
    const join = run.kept?.table(through.table);
    const joined =
      (join && keptLinks(join, through, keys)) ??
      this.#readLinks(frame) ??
      (await this.#links(through, keys, run));
    const all = joinedLists(table, through, this.#orderBy, joined, (key) => run.miss(key));
    const lists = new Map([...all].map(([key, rows]) => [key, rows.filter(test)]));
    return { lists, types: table.types };
  }

  /** What came with the rows themselves; the same row may stand there more than once. */
  #readLinks({ rows }: Frame): Joined[] | undefined {
    const read = this.#joined;
    if (!read) return undefined;
    const byParent = new Map(rows.map((row) => [this.#key(row) ?? '', row]));
    return [...byParent].flatMap(([parent, row]) =>
      arrayEntries(read(row)).map((entry) => {
        const [child = '', ...link] = entry.split(':');
        return { parent, child, link };
      }),
    );
  }

  async #links(through: Through, keys: readonly string[], run: Run): Promise<Joined[]> {
    this.#linkStatement ??= new Prepared(
      linksQuery(run.reading([]), through, linkColumns(this.#orderBy), keysSlot),
    );
    const { rows } = await run.rows(this.#linkStatement, { keys: uuidArray(keys) });
    return rows.map(([parent, child, ...link]) => ({ parent: parent ?? '', child: child ?? '', link }));
  }
}

interface Lists {
  lists: ReadonlyMap<string, readonly Row[]>;
  types: readonly number[];
}

/** Groups of rows one after the other, and where each group begins and ends. */
export function flatten(groups: readonly (readonly Row[])[]) {
  const flat: Row[] = [];
  const start = new Int32Array(groups.length);
  const end = new Int32Array(groups.length);
  groups.forEach((group, place) => {
    start[place] = flat.length;
    for (const row of group) flat.push(row);
    end[place] = flat.length;
  });
  return { flat, start, end };
}

/** Which of a frame's rows are joined to the viewer. */
export class ExistsFetch implements Fetch {
  readonly #table: TableName;
  readonly #keyColumn: string;
  readonly #viewerColumn: string;
  readonly #key: Read;
  readonly #part: number;
  #statement: Prepared | undefined;

  constructor(plan: { table: TableName; keyColumn: string; viewerColumn: string }, key: Read, part: number) {
    this.#table = plan.table;
    this.#keyColumn = plan.keyColumn;
    this.#viewerColumn = plan.viewerColumn;
    this.#key = key;
    this.#part = part;
  }

  async fetch(frame: Frame, run: Run): Promise<void> {
    this.#statement ??= new Prepared(
      existsQuery(run.reading([]), this.#table, this.#keyColumn, this.#viewerColumn, viewerSlot, keysSlot),
    );
    const { keys, at } = distinctKeys(frame, this.#key);
    const { rows } = await run.rows(this.#statement, { keys: uuidArray(keys) });
    const found = new Set(rows.map(([key]) => key));
    frame.parts[this.#part] = Array.from(at, (place) => found.has(keys[place] ?? ''));
  }
}

/** How many children each of a frame's rows has. */
export class CountFetch implements Fetch {
  readonly #source: ChildSource;
  readonly #filter: Predicate;
  readonly #key: Read;
  readonly #part: number;
  #statement: Prepared | undefined;

  constructor(plan: { source: ChildSource; filter: Predicate }, key: Read, part: number) {
    this.#source = plan.source;
    this.#filter = plan.filter;
    this.#key = key;
    this.#part = part;
  }

  async fetch(frame: Frame, run: Run): Promise<void> {
    const kept = run.keptCount(this.#source, this.#filter);
    if (kept) {
      frame.parts[this.#part] = frame.rows.map((row) => kept(this.#key(row) ?? ''));
      return;
    }
    this.#statement ??= new Prepared(countsQuery(run.reading([]), this.#source, this.#filter, keysSlot));
    const { keys, at } = distinctKeys(frame, this.#key);
    const { rows } = await run.rows(this.#statement, { keys: uuidArray(keys) });
    const counts = new Map(rows.map(([key, count]) => [key, Number(count)]));
    frame.parts[this.#part] = Array.from(at, (place) => counts.get(keys[place] ?? '') ?? 0);
  }
}

/** Counters that are kept in slots, summed for each of a frame's rows; several fields may be made of them. */
export class SumsFetch implements Fetch {
  readonly part: number;
  readonly #table: TableName;
  readonly #keyColumn: string;
  readonly #columns: string[] = [];
  readonly #key: Read;
  #statement: Prepared | undefined;

  constructor(table: TableName, keyColumn: string, key: Read, part: number) {
    this.#table = table;
    this.#keyColumn = keyColumn;
    this.#key = key;
    this.part = part;
  }

  add(columns: readonly string[]): void {
    for (const column of columns) if (!this.#columns.includes(column)) this.#columns.push(column);
  }

  async fetch(frame: Frame, run: Run): Promise<void> {
    this.#statement ??= new Prepared(
      sumsQuery(run.reading([]), this.#table, this.#keyColumn, this.#columns, keysSlot),
    );
    const { keys, at } = distinctKeys(frame, this.#key);
    const { rows, types } = await run.rows(this.#statement, { keys: uuidArray(keys) });
    const named = (values: readonly unknown[]) =>
      Object.fromEntries(this.#columns.map((column, place) => [column, values[place] ?? 0]));
    const sums = new Map(
      rows.map(([key, ...texts]) => [
        key,
        named(texts.map((text, place) => decodeText(types[place + 1] ?? 0, text))),
      ]),
    );
    const none = named([]);
    frame.parts[this.part] = Array.from(at, (place) => sums.get(keys[place] ?? '') ?? none);
  }
}
