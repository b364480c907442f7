import { type GraphQLOutputType, isListType, isNonNullType } from 'graphql';
import { findQuery } from '../../db/row-queries.ts';
import { Prepared, slotted } from '../../db/prepared.ts';
import type { Predicate } from '../../db/predicate.ts';
import type { Context } from '../../resolvers/context.ts';
import type { Plan } from '../../schema/plan.ts';
import { testOf } from '../../reference/conditions.ts';
import { Columns } from './columns.ts';
import { Bail, type Field, type Frame, type Link, newFrame, type Row } from './frame.ts';
import { writeList } from './json-writer.ts';
import { valueField } from './leaves.ts';
import type { Fetch, ObjectPlan } from './objects.ts';
import type { Run } from './run.ts';

type ByKey = Extract<Plan, { kind: 'byKey' }>;

interface Arguments {
  args: (run: Run) => Record<string, unknown>;
}

/** One row of the workspace, by what an argument says. */
export class KeyedFetch implements Fetch {
  readonly columns: Columns;
  readonly part: number;
  plan: ObjectPlan | undefined;
  readonly #named: ByKey;
  readonly #args: Arguments['args'];
  readonly #byShape = new Map<string, Prepared>();

  constructor(named: ByKey, { args }: Arguments, part: number) {
    this.#named = named;
    this.columns = new Columns({ of: named.table });
    this.#args = args;
    this.part = part;
  }

  async fetch(frame: Frame, run: Run): Promise<void> {
    const { argument, lookup } = this.#named;
    const named = lookup(String(this.#args(run)[argument]));
    const { rows, types } = named
      ? (this.#kept(named, run) ?? (await this.#read(named, run)))
      : { rows: [], types: [] };
    const link: Link = {
      frame: newFrame(run, rows.slice(0, 1), types),
      at: Int32Array.of(rows.length > 0 ? 0 : -1),
    };
    frame.parts[this.part] = link;
    await this.plan?.fetch(link.frame, run);
  }

  #kept(named: Predicate, { kept }: Run) {
    const { table: name, where } = this.#named;
    const table = kept?.table(name);
    const test = table && kept && testOf({ all: [where, named] }, table, kept);
    if (!table || !test) return undefined;
    const row = table.rows.find(test);
    return { rows: row ? [row] : [], types: table.types };
  }

  #read(named: Predicate, run: Run) {
    const { shape, values } = slotted(named, 'named');
    const key = JSON.stringify(shape);
    let statement = this.#byShape.get(key);
    if (!statement) {
      const { table, where } = this.#named;
      const query = findQuery(run.reading(this.columns.read), table, { all: [where, shape] });
      statement = new Prepared(query.limit(1));
      this.#byShape.set(key, statement);
    }
    return run.rows(statement, values);
  }
}

/** What a resolver gave: a value, or rows with the selection on them. */
interface GivenPart {
  value: unknown;
  frame: Frame | undefined;
}

interface GivenOptions {
  /** The field's name in the answer. */
  key: string;
  load: (ctx: Context, args: unknown, parent: unknown) => unknown;
  args: Arguments['args'];
  part: number;
  plan: ObjectPlan | undefined;
}

/** What one resolver call gives, and what hangs on the rows that it gave. */
export class GivenFetch implements Fetch {
  readonly #options: GivenOptions;

  constructor(options: GivenOptions) {
    this.#options = options;
  }

  async fetch(frame: Frame, run: Run): Promise<void> {
    const { key, load, args, part, plan } = this.#options;
    const given = args(run);
    const value = await run.results.once(key, () => load(run.context, given, undefined));
    const rows = value === null || value === undefined ? [] : [value].flat();
    const below = plan && newFrame(run, rows as Row[], []);
    frame.parts[part] = { value, frame: below } satisfies GivenPart;
    if (below) await plan?.fetch(below, run);
  }
}

export function givenField(
  key: string,
  type: GraphQLOutputType,
  part: number,
  plan: ObjectPlan | undefined,
): Field {
  const partOf = (frame: Frame) => frame.parts[part] as GivenPart;
  if (!plan) return valueField(key, type, (frame) => partOf(frame).value);
  const bare = isNonNullType(type) ? type.ofType : type;
  const list = isListType(bare);
  const given = ({ value, frame }: GivenPart): Frame | undefined => {
    if (value !== null && value !== undefined) return frame;
    if (isNonNullType(type)) throw new Bail('A field that cannot be null is.');
    return undefined;
  };
  return {
    key,
    write: (out, frame) => {
      const rows = given(partOf(frame));
      if (!rows) out.null();
      else if (list) writeList(out, 0, rows.rows.length, (_out, at) => plan.write(out, rows, at));
      else plan.write(out, rows, 0);
    },
    value: (frame) => {
      const rows = given(partOf(frame));
      if (!rows) return null;
      return list ? rows.rows.map((_row, at) => plan.value(rows, at)) : plan.value(rows, 0);
    },
  };
}
