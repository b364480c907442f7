/**
 * Marks a field whose value depends only on tables that the position of the data covers (`src/db/tables/position-tables.ts`) and
 * on today's date in UTC. An answer without other computed fields can be recognized as unchanged.
 */
export const coveredByPosition = { isCoveredByPosition: true } as const;
