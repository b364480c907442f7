import type { Predicate } from './predicate.ts';
import type { Order } from './walk.ts';

/**
 * Adds to `startsWith` on the column of the order the range of texts that it means, so that a walk through the index begins and
 * ends with them. Texts that are ordered are compared by their code points (collation "C").
 */
export function withPrefixRange(filter: Predicate, order: Order): Predicate {
  const ranges = rangesIn(filter, order.column);
  return ranges.length === 0 ? filter : { all: [filter, ...ranges] };
}

function rangesIn(filter: Predicate, column: string): Predicate[] {
  if ('all' in filter) return filter.all.flatMap((part) => rangesIn(part, column));
  if (!('is' in filter) || filter.is !== 'startsWith' || filter.column !== column) return [];
  if (typeof filter.value !== 'string') return [];
  const end = nextPrefix(filter.value);
  return [
    { column, is: 'gte', value: filter.value },
    ...(end === undefined ? [] : [{ column, is: 'lt', value: end } as const]),
  ];
}

const lastCodePoint = 0x10_ff_ff;
const firstSurrogate = 0xd8_00;
const firstAfterSurrogates = 0xe0_00;

/** The first text after all texts with the prefix; undefined where there is none. */
function nextPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === lastCodePoint) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  return String.fromCodePoint(...points, last + 1 === firstSurrogate ? firstAfterSurrogates : last + 1);
}
