/**
 * The extension of a field that is computed or resolved from nothing but rows that the position of the data covers
 * (`src/db/tables/position-tables.ts`) and today's date in UTC. Answers without other such fields can be recognised as unchanged.
 */
export const ofPosition = { isOfPosition: true } as const;

export function isOfPosition(extensions: Readonly<Record<string, unknown>>): boolean {
  return extensions['isOfPosition'] === true;
}
