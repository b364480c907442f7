import { type RawBuilder, sql } from 'kysely';

/**
 * `any(…)` of ids, to be compared with `=`. Unlike `in`, the text of the statement does not depend on the number of
 * ids.
 */
export function anyUuid(ids: Iterable<string>): RawBuilder<string> {
  return sql<string>`any(${[...ids]}::uuid[])`;
}
