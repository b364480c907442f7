import type { ListOrder } from '../db/page.ts';
import type { Through } from '../db/predicate.ts';
import type { KeptRow, KeptTable } from './kept-table.ts';
import { compareKeys } from './order.ts';

/** How one row is joined to a parent: the columns of the join table that were read. */
export interface Joined {
  parent: string;
  child: string;
  /** The columns of the join table that the list is ordered by, which are numbers. */
  link: KeptRow;
}

/** What a join table that is kept says of these parents; lists over such a table are ordered by their rows alone. */
export function keptLinks(join: KeptTable, { parent, child }: Through, parents: readonly string[]): Joined[] {
  const place = join.place(child);
  return parents.flatMap((key) =>
    join.by(parent, key).map((row) => ({ parent: key, child: row[place] ?? '', link: [] })),
  );
}

/** The columns of the join table that a list is ordered by. */
export function linkColumns(orderBy: readonly ListOrder[]): string[] {
  return orderBy.flatMap(({ column, of }) => (of === 'link' ? [column] : []));
}

/** The rows of a kept table that are joined to each parent, in the order of a plain list. */
export function joinedLists(
  table: KeptTable,
  through: Through,
  orderBy: readonly ListOrder[],
  joined: Iterable<Joined>,
  missing: (key: string) => void,
): Map<string, KeptRow[]> {
  const lists = new Map<string, { row: KeptRow; link: Joined }[]>();
  for (const link of joined) {
    const [row] = table.by(through.by, link.child);
    if (!row) {
      missing(link.child);
      continue;
    }
    const list = lists.get(link.parent);
    if (list) list.push({ row, link });
    else lists.set(link.parent, [{ row, link }]);
  }
  const links = linkColumns(orderBy);
  const keys = orderBy.map(({ column, of }) => {
    const place = of === 'link' ? links.indexOf(column) : table.place(column);
    return (each: { row: KeptRow; link: Joined }) =>
      of === 'link' ? Number(each.link.link[place]) : sortKey(table.types[place], each.row[place]);
  });
  const compare = (a: { row: KeptRow; link: Joined }, b: { row: KeptRow; link: Joined }) => {
    for (const key of keys) {
      const compared = compareKeys(key(a), key(b));
      if (compared !== 0) return compared;
    }
    return 0;
  };
  return new Map(
    [...lists].map(([parent, list]) => [
      parent,
      (list.length > 1 ? list.toSorted(compare) : list).map(({ row }) => row),
    ]),
  );
}

const integerTypes: ReadonlySet<number> = new Set([20, 21, 23]);

function sortKey(type: number | undefined, text: string | null | undefined): string | number {
  return integerTypes.has(type ?? 0) ? Number(text) : (text ?? '');
}
