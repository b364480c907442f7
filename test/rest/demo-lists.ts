import { fold } from '../../src/model/fold.ts';
import type { SharedApp } from '../support/shared-app.ts';

/** A row of a list as the graph shows it: what its order and its filters are worked out from here. */
export type Row = Readonly<Record<string, unknown>> & { readonly id: string };

type Value = string | number | null;

/** What a sort compares; null comes last both ways. */
export type SortKey = (row: Row) => Value;

/** The rows in the order of a sort, equal ones by their id in the same direction. */
export function inOrder(rows: readonly Row[], keyOf: SortKey, direction: string): Row[] {
  const sign = direction.startsWith('asc') ? 1 : -1;
  return rows.toSorted((a, b) => {
    const [x, y] = [keyOf(a), keyOf(b)];
    if ((x === null) !== (y === null)) return x === null ? 1 : -1;
    return sign * (compare(x, y) || compare(a.id, b.id));
  });
}

function compare(a: Value, b: Value): number {
  if (a === null || b === null || a === b) return 0;
  return a < b ? -1 : 1;
}

/** The value at a path such as `status.position`; undefined where something on the way is null. */
export function at(row: Row, path: string): unknown {
  let value: unknown = row;
  for (const name of path.split('.')) value = (value as Record<string, unknown> | null | undefined)?.[name];
  return value;
}

/** The key of a text that is compared by its fold. */
export const folded =
  (path: string): SortKey =>
  (row) => {
    const text = at(row, path);
    return typeof text === 'string' ? fold(text) : null;
  };

/** The key of a number or of a text that is compared as it stands. */
export const plain =
  (path: string): SortKey =>
  (row) =>
    (at(row, path) as Value | undefined) ?? null;

/** The key of an enum's value: its place in a list of names. */
export const ranked =
  (path: string, names: readonly string[]): SortKey =>
  (row) =>
    names.indexOf(String(at(row, path)));

/** Everything in a connection of the graph; `select` is what is selected of a row. */
export async function allRows(app: SharedApp, field: string, select: string): Promise<Row[]> {
  const rows: Row[] = [];
  let after: string | null = null;
  do {
    const query = `query ($after: String) { ${field}(first: 250, after: $after) { nodes { id ${select} } pageInfo { hasNextPage endCursor } } }`;
    const { body }: Awaited<ReturnType<typeof app.graphql<Record<string, Page>>>> = await app.graphql(query, {
      after,
    });
    const page: Page | undefined = body.data?.[field];
    if (!page) throw new Error(JSON.stringify(body.errors));
    rows.push(...page.nodes);
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
  } while (after !== null);
  return rows;
}

interface Page {
  nodes: Row[];
  pageInfo: { hasNextPage: boolean; endCursor: string };
}
