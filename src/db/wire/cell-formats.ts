/** As PostgreSQL writes it for people. */
export const asText = 0;
/** The 16 bytes of a UUID. */
export const asUuid = 1;
/** The microseconds since 2000 as eight bytes. */
export const asTime = 2;
/** UUIDs in an array, each as its bytes. */
export const asUuids = 3;

/** How the cells of a row stand in it, by their places: what takes PostgreSQL long to write comes as it keeps it. */
export type CellFormats = readonly number[];

/** By the OID of the type. */
const formats: ReadonlyMap<number, number> = new Map([
  [2950, asUuid],
  [1184, asTime],
  [2951, asUuids],
]);

/** How the cells of such columns are asked for; undefined where all come as texts. */
export function cellFormats(types: readonly number[]): CellFormats | undefined {
  const each = types.map((type) => formats.get(type) ?? asText);
  return each.some((format) => format !== asText) ? each : undefined;
}
