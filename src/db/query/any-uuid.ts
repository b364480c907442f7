import { type RawBuilder, sql } from 'kysely';

/** `= any(…)` over ids: one text of the statement whatever their number. Compare with `=`. */
export function anyUuid(ids: Iterable<string>): RawBuilder<string> {
  return sql<string>`any(${[...ids]}::uuid[])`;
}
