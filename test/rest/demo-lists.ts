import { fold } from '../../src/model/fold.ts';
import type { SharedApp } from '../support/shared-app.ts';

/** A row of a list with the fields that the graph returns, from which the expected order and filters are computed. */
export type Row = Readonly<Record<string, unknown>> & { readonly id: string };

type Value = string | number | null;

/** The value that a sort compares. Null comes last in both directions. */
export type SortKey = (row: Row) => Value;

/** Sorts the rows, with ties ordered by id in the same direction. */
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

/** The value at a path such as `status.position`; undefined if an object on the path is null. */
export function at(row: Row, path: string): unknown {
  let value: unknown = row;
  for (const name of path.split('.')) value = (value as Record<string, unknown> | null | undefined)?.[name];
  return value;
}

/** The sort key of a text that is compared without case and accents. */
export const folded =
  (path: string): SortKey =>
  (row) => {
    const text = at(row, path);
    return typeof text === 'string' ? fold(text) : null;
  };

/** The sort key of a number, or of a text that is compared unchanged. */
export const plain =
  (path: string): SortKey =>
  (row) =>
    (at(row, path) as Value | undefined) ?? null;

/** The sort key of an enum value: its index in a list of names. */
export const ranked =
  (path: string, names: readonly string[]): SortKey =>
  (row) =>
    names.indexOf(String(at(row, path)));

/** Reads all rows of a connection with a selection. */
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
