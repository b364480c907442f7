import type { Random } from '../random.ts';
import type { NamedFilter } from './values.ts';

/** Filters of two or three conditions on different fields, sometimes with `or` or `not`. */
export function combinationsOf(single: readonly NamedFilter[], count: number, random: Random): NamedFilter[] {
  const byField = [...Map.groupBy(single, fieldOf).values()];
  return Array.from({ length: count }, (_, index) => {
    const chosen = random.some(byField, 2 + (index % 2)).map((filters) => random.pick(filters));
    const name = chosen.map((each) => each.name);
    const conditions = chosen.map(({ filter }) => filter);
    switch (random.below(6)) {
      case 0:
        return { name: name.join(' or '), filter: { or: conditions } };
      case 1: {
        const [first = {}, ...others] = conditions;
        return { name: `not ${name.join(' & ')}`, filter: { and: [{ not: first }, ...others] } };
      }
      default:
        return { name: name.join(' & '), filter: { and: conditions } };
    }
  });
}

function fieldOf({ filter }: NamedFilter): string {
  return Object.keys(filter)[0] ?? '';
}
