import { type FieldNode, isObjectType } from 'graphql';
import { uuidArray } from '../../../db/statements/uuid-array.ts';
import { Prepared } from '../../../db/statements/prepared.ts';
import { keyQuery } from '../../../db/query/row-queries.ts';
import { type IdPrefix, parseId } from '../../../resolvers/ids.ts';
import { hasRowRule, maxNodes, type NodeKind } from '../../../resolvers/nodes.ts';
import { testOf } from '../../../reference/conditions.ts';
import { textAt } from '../../../db/wire/wire-row.ts';
import { Columns } from '../compile/columns.ts';
import { Bail, type Field, type Frame, newFrame, UnsupportedIds } from '../run/frame.ts';
import type { Fetch, ObjectPlan } from '../compile/objects.ts';
import { keysSlot, type Run } from '../run/run.ts';
import type { Compilation } from '../compile/selection.ts';
import { fetchRows } from '../run/prewritten-rows.ts';
import { type Sink, writeList } from '../writing/sink.ts';

/** The rows of one node type, and the index of each by its id. */
interface FoundRows {
  plan: ObjectPlan;
  frame: Frame;
  indexes: ReadonlyMap<string, number>;
}

/** A requested node. */
interface FoundNode {
  plan: ObjectPlan;
  frame: Frame;
  row: number;
}

interface NodesOptions {
  kinds: () => ReadonlyMap<IdPrefix, NodeKind>;
  ids: (run: Run) => readonly string[];
  fetchIndex: number;
  compilation: Compilation;
  nodes: readonly FieldNode[];
}

/** Fetches nodes by their global ids, with one statement for each type. */
export class NodesFetch implements Fetch {
  readonly #options: NodesOptions;
  /** By type name; a plan is compiled when a node of its type is first requested. */
  readonly #plans = new Map<string, { plan: ObjectPlan; statement?: Prepared }>();

  constructor(options: NodesOptions) {
    this.#options = options;
  }

  async fetch(frame: Frame, run: Run): Promise<void> {
    const ids = this.#options.ids(run);
    if (ids.length > maxNodes) throw new UnsupportedIds('Too many ids.');
    const requested = ids.map((id) => {
      const parsed = parseId(id);
      if (!parsed) throw new UnsupportedIds('An id that cannot be read.');
      if (hasRowRule(parsed.prefix))
        throw new UnsupportedIds(`Only its resolver knows who may read a ${parsed.prefix}.`);
      return parsed;
    });
    const byPrefix = Map.groupBy(requested, ({ prefix }) => prefix);
    const found = new Map(
      await Promise.all(
        [...byPrefix].map(async ([prefix, named]) => {
          const uuids = new Set(named.map(({ uuid }) => uuid));
          return [prefix, await this.#find(prefix, uuids, run)] as const;
        }),
      ),
    );
    frame.fetched[this.#options.fetchIndex] = requested.map(({ prefix, uuid }): FoundNode | undefined => {
      const rows = found.get(prefix);
      const row = rows?.indexes.get(uuid);
      return rows && row !== undefined ? { plan: rows.plan, frame: rows.frame, row } : undefined;
    });
  }

  async #find(prefix: IdPrefix, uuids: ReadonlySet<string>, run: Run): Promise<FoundRows | undefined> {
    const kind = this.#options.kinds().get(prefix);
    if (!kind) return undefined;
    const known = this.#planOf(kind);
    const { rows, types } =
      cachedRows(kind, uuids, run) ??
      (await run.rows(this.#statement(kind, run), { keys: uuidArray(uuids) }));
    const frame = newFrame(run, rows, types);
    await fetchRows(known.plan, frame);
    // The id is the first column.
    const indexes = new Map(rows.map((row, index) => [textAt(row, 0) ?? '', index]));
    return { plan: known.plan, frame, indexes };
  }

  #statement(kind: NodeKind, run: Run): Prepared {
    const known = this.#planOf(kind);
    known.statement ??= new Prepared(
      keyQuery(run.queryBase(known.plan.columns.selected), kind.table, 'id', kind.where, keysSlot),
    );
    return known.statement;
  }

  #planOf({ typeName, table }: NodeKind): { plan: ObjectPlan; statement?: Prepared } {
    const known = this.#plans.get(typeName);
    if (known) return known;
    const { compilation, nodes } = this.#options;
    const type = compilation.schema.getType(typeName);
    if (!isObjectType(type)) throw new Bail(`${typeName} is not an object type.`);
    const columns = new Columns({ of: table });
    // The id becomes the first column.
    columns.include('id');
    const made = { plan: compilation.compileObject(type, nodes, columns) };
    this.#plans.set(typeName, made);
    return made;
  }
}

/** Takes cached rows from memory; the id is the first column of every cached table that has nodes. */
function cachedRows({ table: name, where }: NodeKind, uuids: ReadonlySet<string>, { cached }: Run) {
  const table = cached?.table(name);
  const test = table && cached && testOf(where, table, cached);
  if (!table || !test) return undefined;
  return { rows: [...uuids].flatMap((uuid) => table.by('id', uuid).filter(test)), types: table.types };
}

/** One node, or the list of them. */
export function nodesField(responseName: string, fetchIndex: number, list: boolean): Field {
  const found = (frame: Frame) => frame.fetched[fetchIndex] as (FoundNode | undefined)[];
  const write = (out: Sink, node: FoundNode | undefined) =>
    node ? node.plan.write(out, node.frame, node.row) : out.null();
  return {
    responseName,
    write: (out, frame) => {
      const nodes = found(frame);
      if (list) writeList(out, nodes, 0, nodes.length, (into, of, index) => write(into, of[index]));
      else write(out, nodes[0]);
    },
  };
}
