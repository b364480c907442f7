/** The word of a code table for a code. */
export function wordOfCode(table: Readonly<Record<string, number>>, code: number): string {
  const word = Object.keys(table).find((name) => table[name] === code);
  if (word === undefined) throw new Error(`No word of the table stands for ${code}.`);
  return word;
}

/** The fields that say something: an absent one and an empty text are what a new row has anyway. */
export function saying(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null && value !== ''));
}
