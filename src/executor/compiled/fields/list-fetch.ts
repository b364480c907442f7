import { linksQuery, type ListOrder, listsQuery } from '../../../db/query/pages/plain-lists.ts';
import type { ChildSource } from '../../../db/query/walks/walk.ts';
import type { Through } from '../../../db/query/conditions/predicate.ts';
import { Prepared } from '../../../db/statements/prepared.ts';
import { cachedDeclaration } from '../../../db/tables/cached-tables.ts';
import { preloadableTables } from '../../../db/writes/preloaded.ts';
import { asUuids } from '../../../db/wire/cell-formats.ts';
import { textAt, WireRow } from '../../../db/wire/wire-row.ts';
import { testOf } from '../../../reference/conditions.ts';
import type { CachedTable } from '../../../reference/cached-table.ts';
import { GroupedRows, linkColumns } from '../../../reference/grouped-rows.ts';
import { flatten } from './children.ts';
import { Columns, type KeyColumn } from '../compile/columns.ts';
import { distinctKeys } from '../run/distinct-keys.ts';
import { type Frame, type Groups, newFrame, type Row } from '../run/frame.ts';
import { type Fetch, type ObjectPlan, startAll } from '../compile/objects.ts';
import { keysSlot, type Run } from '../run/run.ts';
import { columnIdentity, statement } from '../run/statements.ts';

/** The plain lists under the rows of a frame. Each selection on the listed rows is a view, with its own frame. */
export interface FetchedLists extends Groups {
  frames: Frame[];
}

/** The rows of all lists in one array. */
interface Lists extends Groups {
  rows: readonly Row[];
  types: readonly number[];
}

/** Fetches the plain lists of children under all rows of a frame with one statement. Several fields share them. */
export class ListFetch implements Fetch {
  readonly columns: Columns;
  readonly fetchIndex: number;
  readonly #source: ChildSource;
  readonly #orderBy: readonly ListOrder[];
  readonly #key: KeyColumn;
  readonly #attached: KeyColumn | undefined;
  readonly #views: ObjectPlan[] = [];
  #statement: Prepared | undefined;
  #linkStatement: Prepared | undefined;

  /** `attached` is the column of the parents with the keys of the listed rows, where there is one. */
  constructor(
    source: ChildSource,
    orderBy: readonly ListOrder[],
    { key, attached, fetchIndex }: { key: KeyColumn; attached: KeyColumn | undefined; fetchIndex: number },
  ) {
    this.#attached = attached;
    this.columns = new Columns({ of: source.table });
    this.#source = source;
    this.#orderBy = orderBy;
    this.#key = key;
    this.fetchIndex = fetchIndex;
  }

  /** Adds a selection on the listed rows; returns the index of its frame. */
  view(plan: ObjectPlan): number {
    return this.#views.push(plan) - 1;
  }

  get showsOnlyWritten(): boolean {
    const { parent, table } = this.#source;
    const joined = 'through' in parent ? parent.through.table : table;
    // The rows of a preloaded join are read only where there are any.
    const isPreloaded = this.#attached !== undefined && preloadableTables.some((each) => each === joined);
    if (!isPreloaded && !(this.columns.isCached && cachedDeclaration(joined))) return false;
    return this.#views.every((view) => view.showsOnlyWritten);
  }

  fetch(frame: Frame, run: Run): Promise<void> | undefined {
    const found = this.#cached(frame, run) ?? this.#emptyLists(frame) ?? this.#read(frame, run);
    return found instanceof Promise
      ? found.then((lists) => this.#show(lists, frame, run))
      : this.#show(found, frame, run);
  }

  #show({ groupIndexes, start, end, rows, types }: Lists, frame: Frame, run: Run): Promise<void> | undefined {
    const frames = this.#views.map(() => newFrame(run, rows, types));
    frame.fetched[this.fetchIndex] = { groupIndexes, start, end, frames } satisfies FetchedLists;
    return startAll(this.#views, (view, index) => view.fetch(frames[index] as Frame, run));
  }

  /** Returns empty lists if the attached keys of all rows are empty. */
  #emptyLists({ rows }: Frame): Lists | undefined {
    const text = this.#attached?.text;
    if (!text || !rows.every((row) => text(row) === '{}')) return undefined;
    const none = new Int32Array(rows.length);
    return { groupIndexes: none, start: none, end: none, rows: [], types: [] };
  }

  async #read(frame: Frame, run: Run): Promise<Lists> {
    const { selected } = this.columns;
    this.#statement ??= statement(
      ['list', this.#source, this.#orderBy, columnIdentity(selected)],
      () => new Prepared(listsQuery(run.queryBase(selected), this.#source, this.#orderBy, keysSlot)),
    );
    const { texts, keyIndexes, array } = distinctKeys(frame, this.#key);
    const { rows, types } = await run.rows(this.#statement, { keys: array });
    // The key of the parent is the last column.
    const parent = this.columns.selected.length;
    const lists = Map.groupBy(rows, (row) => textAt(row, parent) ?? '');
    return { groupIndexes: keyIndexes, ...flatten(texts.map((key) => lists.get(key) ?? [])), types };
  }

  /** Takes cached rows from memory. Unless the join is cached or its keys are attached, a statement reads it. */
  #cached(frame: Frame, run: Run): Lists | Promise<Lists> | undefined {
    const { table: name, where, parent } = this.#source;
    const table = run.cached?.table(name);
    const test = table && run.cached && testOf(where, table, run.cached);
    if (!table || !test) return undefined;
    const through =
      'through' in parent
        ? parent.through
        : { table: name, parent: parent.column, child: 'id', target: name, by: 'id' };
    const join = run.cached?.table(through.table);
    const keys = !join && this.#attached && allHaveKeys(frame, this.#attached) ? this.#attached : undefined;
    // Attached keys are already in the order of the join, where it has one.
    const orderBy = keys && linkColumns(this.#orderBy).length > 0 ? [] : this.#orderBy;
    const grouped = new GroupedRows(table, { by: through.by, orderBy }, test, (key) => run.onMissingRow(key));
    const lists = (groups: Groups): Lists => ({ ...groups, rows: grouped.rows, types: table.types });
    if (join) return lists(this.#byJoin(frame, join, through, grouped));
    if (keys) return lists(byKeys(frame, keys, grouped));
    return this.#links(frame, through, run, grouped).then(lists);
  }

  /** Finds the rows by a cached join. Lists over such a join are ordered by columns of the listed rows only. */
  #byJoin(frame: Frame, join: CachedTable, { parent, child }: Through, grouped: GroupedRows): Groups {
    const index = join.columnIndex(child);
    const { texts, keyIndexes, count } = distinctKeys(frame, this.#key);
    return groupsOf(keyIndexes, count, grouped, (group) => {
      for (const link of join.by(parent, texts[group] ?? '')) grouped.add(link[index] ?? '', []);
    });
  }

  async #links(frame: Frame, through: Through, run: Run, grouped: GroupedRows): Promise<Groups> {
    const columns = linkColumns(this.#orderBy);
    this.#linkStatement ??= statement(
      ['links', through, columns],
      () => new Prepared(linksQuery(run.queryBase([]), through, columns, keysSlot)),
    );
    const { texts, keyIndexes, array, count } = distinctKeys(frame, this.#key);
    const { rows } = await run.texts(this.#linkStatement, { keys: array });
    const byParent = Map.groupBy(rows, ([parent]) => parent);
    return groupsOf(keyIndexes, count, grouped, (group) => {
      for (const [, child, ...link] of byParent.get(texts[group] ?? '') ?? []) grouped.add(child ?? '', link);
    });
  }
}

/** Whether all rows have their keys. A statement derives them for every row, but a resolver may leave some out. */
function allHaveKeys({ rows }: Frame, { text, index }: KeyColumn): boolean {
  return index !== undefined || rows.every((row) => text(row) !== null);
}

/** Finds the rows by the keys that are attached to the parents. */
function byKeys({ rows }: Frame, { text, index }: KeyColumn, grouped: GroupedRows): Groups {
  const at = new Int32Array(rows.length);
  for (let row = 0; row < at.length; row += 1) at[row] = row;
  return groupsOf(at, rows.length, grouped, (group) => {
    const row = rows[group] as Row;
    if (row instanceof WireRow && index !== undefined) {
      const start = row.find(index);
      if (start < 0) return;
      if (row.formats?.[index] === asUuids) grouped.addUuids(row.bytes, start);
      else grouped.addArray(row.bytes, start, row.end);
    } else {
      const bytes = Buffer.from(text(row) ?? '', 'latin1');
      grouped.addArray(bytes, 0, bytes.length);
    }
  });
}

function groupsOf(
  groupIndexes: Int32Array,
  count: number,
  grouped: GroupedRows,
  collect: (group: number) => void,
): Groups {
  const start = new Int32Array(count);
  const end = new Int32Array(count);
  for (let group = 0; group < count; group += 1) {
    start[group] = grouped.rows.length;
    collect(group);
    end[group] = grouped.end();
  }
  return { groupIndexes, start, end };
}
