/**
 * An array of UUIDs in PostgreSQL's text format. UUIDs need no quotes, so this is much cheaper than the conversion of
 * pg.
 */
export function uuidArray(keys: Iterable<string>): string {
  return `{${[...keys].join(',')}}`;
}
