import { type RawBuilder, sql } from 'kysely';

/** A sum as the faces can show it: no request may fail because estimates add up to more than an Int holds. */
export function clampedSum(reference: string): RawBuilder<number> {
  return sql<number>`least(coalesce(sum(${sql.ref(reference)}), 0), 2147483647)::int`;
}
