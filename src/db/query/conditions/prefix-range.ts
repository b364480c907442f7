import { listIndexes } from '../../tables/list-indexes.ts';
import type { TableName } from '../../tables/tables.ts';
import type { Predicate } from './predicate.ts';

/**
 * Adds to each `startsWith` on the first column of an index the range of texts with this prefix, so that the index can
 * be used. Such columns are compared by code points (collation "C").
 */
export function withPrefixRanges(filter: Predicate, table: TableName): Predicate {
  const ranges = rangesIn(filter, (column) =>
    Boolean(listIndexes[table]?.some(({ columns }) => columns[0] === column)),
  );
  return ranges.length === 0 ? filter : { all: [filter, ...ranges] };
}

function rangesIn(filter: Predicate, isIndexed: (column: string) => boolean): Predicate[] {
  if ('all' in filter) return filter.all.flatMap((part) => rangesIn(part, isIndexed));
  if (!('is' in filter) || filter.is !== 'startsWith' || !isIndexed(filter.column)) return [];
  const { column, value } = filter;
  if (typeof value !== 'string') return [];
  const end = nextPrefix(value);
  return [
    { column, is: 'gte', value },
    ...(end === undefined ? [] : [{ column, is: 'lt', value: end } as const]),
  ];
}

const lastCodePoint = 0x10_ff_ff;
const firstSurrogate = 0xd8_00;
const firstAfterSurrogates = 0xe0_00;

/** The smallest text that sorts after every text that begins with the prefix; undefined if there is no such text. */
function nextPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === lastCodePoint) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  return String.fromCodePoint(...points, last + 1 === firstSurrogate ? firstAfterSurrogates : last + 1);
}
