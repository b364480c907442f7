import { getNullableType, type GraphQLOutputType, isListType, isNonNullType } from 'graphql';
import { ValuesByForm } from '../run/values-by-form.ts';
import { columnIdentity, statement } from '../run/statements.ts';
import { preloadableTables } from '../../../db/writes/preloaded.ts';
import type { TextRows } from '../../../db/engine/borrowed-connection.ts';
import { type RowWithPage, rowWithPageQuery } from '../../../db/query/pages/row-with-page.ts';
import { findQuery } from '../../../db/query/row-queries.ts';
import { withSlots } from '../../../db/query/conditions/with-slots.ts';
import { Prepared } from '../../../db/statements/prepared.ts';
import type { Predicate } from '../../../db/query/conditions/predicate.ts';
import type { TableName } from '../../../db/tables/tables.ts';
import type { Context } from '../../../resolvers/context.ts';
import type { PlanOf } from '../../../schema/builder/plan.ts';
import { testOf } from '../../../reference/conditions.ts';
import { naturalAt, type TextRow, WireRow } from '../../../db/wire/wire-row.ts';
import type { Columns } from '../compile/columns.ts';
import { ConnectionFetch, type PageWithParent } from '../pages/connections.ts';
import { Bail, type Field, type Frame, type Link, newFrame, type Row } from '../run/frame.ts';
import { refuseNull, valueField } from './leaves.ts';
import type { Fetch, ObjectPlan } from '../compile/objects.ts';
import type { Run } from '../run/run.ts';
import { writeList } from '../writing/sink.ts';
import { fetchRows } from '../run/prewritten-rows.ts';

type ByKeyPlan = PlanOf<'byKey'>;

/** Returns the arguments of a field in this run. */
type ArgumentsOf = (run: Run) => Record<string, unknown>;

interface ByKeyOptions {
  readonly keyPlan: ByKeyPlan;
  readonly args: ArgumentsOf;
  /** What the selection reads of the row. */
  readonly columns: Columns;
  /** The selection on the row. */
  readonly plan: ObjectPlan;
  readonly fetchIndex: number;
}

/** Fetches the row that an argument identifies. */
export class ByKeyFetch implements Fetch {
  readonly columns: Columns;
  readonly fetchIndex: number;
  readonly plan: ObjectPlan;
  readonly #keyPlan: ByKeyPlan;
  readonly #args: ArgumentsOf;
  readonly #statements = new ValuesByForm<Prepared>();

  constructor({ keyPlan, args, columns, plan, fetchIndex }: ByKeyOptions) {
    this.#keyPlan = keyPlan;
    this.columns = columns;
    this.plan = plan;
    this.#args = args;
    this.fetchIndex = fetchIndex;
  }

  async fetch(frame: Frame, run: Run): Promise<void> {
    const { argument, lookup } = this.#keyPlan;
    const condition = lookup(String(this.#args(run)[argument]));
    const page = this.plan.fetches.find((fetch) => fetch instanceof ConnectionFetch)?.pageWithParent(run);
    const { rows, types, children } = condition
      ? (this.#cached(condition, run) ?? (await this.#read(condition, page, run)))
      : { rows: [], types: [] };
    const link: Link = {
      frame: newFrame(run, rows.slice(0, 1), types),
      rowIndexes: Int32Array.of(rows.length > 0 ? 0 : -1),
    };
    if (page && children) link.frame.readWithRow = { fetchIndex: page.fetchIndex, rows: children };
    frame.fetched[this.fetchIndex] = link;
    await this.plan.fetch(link.frame, run);
  }

  #cached(condition: Predicate, { cached }: Run): RootRows | undefined {
    const { table: name, where } = this.#keyPlan;
    const table = cached?.table(name);
    const test = table && cached && testOf({ all: [where, condition] }, table, cached);
    if (!table || !test) return undefined;
    const row = table.rows.find(test);
    return { rows: row ? [row] : [], types: table.types };
  }

  async #read(condition: Predicate, page: PageWithParent | undefined, run: Run): Promise<RootRows> {
    const { form, values } = withSlots(condition, 'named');
    const statement = this.#statement(form, page, run);
    const found = await run.rows(statement, { ...page?.parameterized.values, ...values });
    return page ? this.#split(found, page) : found;
  }

  #statement(form: Predicate, page: PageWithParent | undefined, run: Run): Prepared {
    const key = `${JSON.stringify(form)} ${page?.parameterized.form ?? ''}`;
    return this.#statements.of(key, () => {
      const { table, where } = this.#keyPlan;
      const { selected } = this.columns;
      const below = page && [page.key, page.parameterized.walk.source, columnIdentity(page.columns)];
      return statement(['named', table, where, columnIdentity(selected), key, below], () => {
        const row = findQuery(run.queryBase(selected), table, { all: [where, form] }).limit(1);
        return new Prepared(page ? withPage({ row, columns: selected }, page, run) : row);
      });
    });
  }

  /** Splits the rows of a statement into the row and the page below it. */
  #split({ rows, types }: TextRows, { columns }: PageWithParent): RootRows {
    const width = this.columns.selected.length;
    const [first] = rows;
    const formats = first instanceof WireRow ? first.formats?.slice(width) : undefined;
    const found: TextRow[] = [];
    const children: TextRow[] = [];
    for (const row of rows) {
      if (naturalAt(row, width + columns.length) === 0) {
        found.push(row);
      } else if (row instanceof WireRow) {
        row.dropNulls(width, formats);
        children.push(row);
      } else {
        children.push(row.slice(width));
      }
    }
    return {
      rows: found,
      types: types.slice(0, width),
      children: { rows: children, types: types.slice(width) },
    };
  }
}

/** The requested row, and the page below it if the same statement has read it. */
interface RootRows extends TextRows {
  children?: TextRows;
}

function withPage(row: Omit<RowWithPage, 'key'>, { key, columns, parameterized }: PageWithParent, run: Run) {
  const keyColumn = row.columns[key];
  if (typeof keyColumn !== 'string') throw new Bail('The key is not a stored column.');
  return rowWithPageQuery(
    { ...row, key: keyColumn },
    { ...run.queryBase(columns), columns },
    parameterized.walk,
    parameterized.size,
  );
}

/** The value that a resolver returned, and its rows if the field has a selection. */
interface ResolvedValue {
  value: unknown;
  frame: Frame | undefined;
}

interface SourceOptions {
  /** The response name of the field. */
  responseName: string;
  load: (ctx: Context, args: unknown) => unknown;
  args: ArgumentsOf;
  waits: ((args: object) => boolean) | undefined;
  fetchIndex: number;
  plan: ObjectPlan | undefined;
  /** The tables whose rows the operation shows with a written row that they belong to. */
  preloads: ReadonlySet<TableName>;
}

/** Calls a resolver, and fetches everything below the rows that it returns. */
export class SourceFetch implements Fetch {
  readonly #options: SourceOptions;

  constructor(options: SourceOptions) {
    this.#options = options;
  }

  get showsOnlyWritten(): boolean {
    return this.#options.plan?.showsOnlyWritten ?? true;
  }

  waits(run: Run): boolean {
    const { waits, args } = this.#options;
    return waits?.(args(run)) ?? false;
  }

  async fetch(frame: Frame, run: Run): Promise<void> {
    const { responseName, load, args, fetchIndex, plan, preloads } = this.#options;
    const values = args(run);
    const wanted = preloadableTables.filter((table) => preloads.has(table));
    const context = wanted.length > 0 ? { ...run.context, preloads: wanted } : run.context;
    const value = await run.results.once(responseName, () => load(context, values));
    const rows = value === null || value === undefined ? [] : [value].flat();
    const below = plan && newFrame(run, rows as Row[], []);
    frame.fetched[fetchIndex] = { value, frame: below } satisfies ResolvedValue;
    if (plan && below) await fetchRows(plan, below);
  }
}

/** Makes each row of the root an event of a subscription, and fetches everything below all of them at once. */
export class EventsFetch implements Fetch {
  readonly #fetchIndex: number;
  readonly #plan: ObjectPlan;

  constructor(fetchIndex: number, plan: ObjectPlan) {
    this.#fetchIndex = fetchIndex;
    this.#plan = plan;
  }

  fetch(frame: Frame, run: Run): Promise<void> | undefined {
    const events = newFrame(run, frame.rows, []);
    const rowIndexes = Int32Array.from(frame.rows.keys());
    frame.fetched[this.#fetchIndex] = { frame: events, rowIndexes } satisfies Link;
    return this.#plan.fetch(events, run);
  }
}

export function sourceField(
  responseName: string,
  type: GraphQLOutputType,
  fetchIndex: number,
  plan: ObjectPlan | undefined,
): Field {
  const resolvedOf = (frame: Frame) => frame.fetched[fetchIndex] as ResolvedValue;
  if (!plan) return valueField(responseName, type, (frame) => resolvedOf(frame).value);
  const nullable = getNullableType(type);
  const isList = isListType(nullable);
  const from = (frame: Frame): number => {
    const { value } = resolvedOf(frame);
    if (value !== null && value !== undefined) return 0;
    if (isNonNullType(type)) refuseNull();
    return -1;
  };
  // A fetch with a plan always makes a frame.
  const frameOf = (frame: Frame) => resolvedOf(frame).frame as Frame;
  const to = (frame: Frame) => frameOf(frame).rows.length;
  return {
    responseName,
    write: (out, frame) => {
      if (from(frame) < 0) return out.null();
      const rows = frameOf(frame);
      if (!isList) return plan.write(out, rows, 0);
      return writeList(out, rows, 0, rows.rows.length, plan.write);
    },
    below: { plan, fields: plan.fields, frame: frameOf, from, to },
  };
}
