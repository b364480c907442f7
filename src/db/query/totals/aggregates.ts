import { type RawBuilder, sql } from 'kysely';

/** A sum that is limited to the largest GraphQL Int, because a larger sum of estimates would make the request fail. */
export function clampedSum(reference: string): RawBuilder<number> {
  return sql<number>`least(coalesce(sum(${sql.ref(reference)}), 0), 2147483647)::int`;
}
