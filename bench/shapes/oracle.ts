import type pg from 'pg';
import { findQuery } from '../../src/db/query/row-queries.ts';
import { anyWorkspace } from '../../src/db/engine/tenant-handle.ts';
import { Prepared } from '../../src/db/query/prepared.ts';
import { type ListDeclaration, pageRequest } from '../../src/resolvers/connections.ts';
import { cursorAt } from '../../src/resolvers/cursors.ts';
import { entitiesByPrefix } from '../../src/schema/builder/entity.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { inSql } from '../../src/db/tables/sql-names.ts';

/** Parts of the whole sequence of ids of a filter in an order. */
export interface Sequence {
  readonly first: readonly string[];
  readonly last: readonly string[];
  /** The page behind the row in the middle, and the one behind the middle of the rows without a value. */
  readonly middle: Place | undefined;
  readonly nulls: Place | undefined;
}

interface Place {
  readonly cursor: string;
  readonly ids: readonly string[];
}

interface OrderBy {
  readonly field: string;
  readonly direction: 'ASC' | 'DESC';
}

/** Computes the expected rows of pages by sorting all matching rows without a limit. */
export class Oracle {
  readonly #client: pg.Client;

  constructor(client: pg.Client) {
    this.#client = client;
  }

  /** Collects the rows that match a filter. Returns their number. */
  async match(workspaceId: string, list: ListDeclaration, filter: NamedInput): Promise<number> {
    const { request } = pageRequest(list, { filter });
    const columns = new Set(['id', ...Object.values(list.orders).map(({ column }) => column)]);
    const query = findQuery({ db: anyWorkspace, columns: [...columns] }, list.source.table, {
      all: [list.source.where, request.filter],
    });
    const statement = new Prepared(query);
    await this.#client.query('drop table if exists matched');
    await this.#client.query(`create temp table matched (like ${inSql(list.source.table)})`);
    const names = [...columns].map(inSql).join(', ');
    await this.#client.query(`alter table matched ${dropsNotNull(await this.#columnsOf())}`);
    const { rowCount } = await this.#client.query(
      `insert into matched (${names}) ${statement.text}`,
      statement.bind({ workspaceId }),
    );
    await this.#client.query('analyze matched');
    return rowCount ?? 0;
  }

  async #columnsOf(): Promise<string[]> {
    const { rows } = await this.#client.query<{ name: string }>(
      `select attname as name from pg_attribute where attrelid = 'matched'::regclass and attnum > 0 and attnotnull`,
    );
    return rows.map(({ name }) => name);
  }

  /** The sequence of the matching rows. */
  async sequence(
    list: ListDeclaration,
    filter: NamedInput,
    orderBy: OrderBy,
    size: number,
  ): Promise<Sequence> {
    const { request, fingerprint } = pageRequest(list, {
      filter,
      orderBy: { field: orderBy.field, direction: orderBy.direction === 'ASC' ? 'asc' : 'desc' },
    });
    const column = inSql(request.order.column);
    const { direction } = request.order;
    const order = `(${column} is null), ${column} ${direction}, id ${direction}`;
    const { rows: counted } = await this.#client.query<{ total: number; filled: number }>(
      `select count(*)::int as total, count(${column})::int as filled from matched`,
    );
    const { total = 0, filled = 0 } = counted[0] ?? {};
    const middle = Math.floor(total / 2);
    const nulls = filled + Math.floor((total - filled) / 2);
    const wanted = [
      [1, size],
      [total - size + 1, total],
      [middle, middle + size],
      [nulls, nulls + size],
    ] as const;
    const { rows } = await this.#client.query<{ id: string; value: unknown; nth: string }>(`
      select id, value, nth from (
        select id, ${column} as value, row_number() over (order by ${order}) as nth from matched) r
      where ${wanted.map(([from, to]) => `nth between ${from} and ${to}`).join(' or ')} order by nth`);
    const byPlace = new Map(rows.map((row) => [Number(row.nth), row]));
    const prefix = [...entitiesByPrefix].find(([, { options }]) => options.table === list.source.table)?.[0];
    if (!prefix) throw new Error(`Rows of ${list.source.table} have no ids.`);
    const ids = (from: number, to: number) =>
      Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => byPlace.get(from + index)).flatMap(
        (row) => (row ? [encodeId(prefix, row.id)] : []),
      );
    const placeAt = (at: number): Place | undefined => {
      const row = byPlace.get(at);
      if (!row || at < 1 || at >= total) return undefined;
      const value = row.value instanceof Date ? written(row.value, request.order.kind) : row.value;
      return { cursor: cursorAt(value, row.id, fingerprint()), ids: ids(at + 1, at + size) };
    };
    return {
      first: ids(1, size),
      last: ids(Math.max(1, total - size + 1), total),
      middle: placeAt(middle),
      nulls: filled < total && filled > 0 ? placeAt(nulls) : undefined,
    };
  }
}

type NamedInput = Readonly<Record<string, unknown>>;

function dropsNotNull(columns: readonly string[]): string {
  return columns.map((column) => `alter column ${column} drop not null`).join(', ');
}

/** A day has no time zone; the driver gives its local midnight. */
function written(value: Date, kind: string): string {
  if (kind !== 'date') return value.toISOString();
  const two = (part: number) => String(part).padStart(2, '0');
  return `${value.getFullYear()}-${two(value.getMonth() + 1)}-${two(value.getDate())}`;
}
