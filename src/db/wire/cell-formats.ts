/** PostgreSQL's text format. */
export const asText = 0;
/** The 16 bytes of a UUID. */
export const asUuid = 1;
/** Microseconds since 2000-01-01, as eight bytes. */
export const asTime = 2;
/** An array of UUIDs in binary format. */
export const asUuids = 3;

/** The format of each cell of a row, by position. Types that PostgreSQL is slow to print as text are read in binary. */
export type CellFormats = readonly number[];

/** Formats by the OID of the type. */
const formats: ReadonlyMap<number, number> = new Map([
  [2950, asUuid],
  [1184, asTime],
  [2951, asUuids],
]);

/** The formats to request for columns of these types; undefined when all are text. */
export function cellFormats(types: readonly number[]): CellFormats | undefined {
  const each = types.map((type) => formats.get(type) ?? asText);
  return each.some((format) => format !== asText) ? each : undefined;
}
