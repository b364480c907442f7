/** The name of a code in its code table. */
export function wordOfCode(table: Readonly<Record<string, number>>, code: number): string {
  const word = Object.keys(table).find((name) => table[name] === code);
  if (word === undefined) throw new Error(`The code table has no code ${code}.`);
  return word;
}

/** The fields without null and empty texts, which are the defaults of a new row. */
export function withoutEmpty(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null && value !== ''));
}
