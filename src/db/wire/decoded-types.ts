import pg from 'pg';
import type { CustomTypesConfig } from 'pg';

/**
 * How values of PostgreSQL are converted, the same on both engines: int8 to a number, timestamptz to a Date. date and
 * numeric stay text.
 */
export const decodedTypes: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    const decode = format === 'binary' ? undefined : decoders.get(oid);
    return decode ?? pg.types.getTypeParser(oid, format);
  },
};

/** The OIDs of types. */
const oids = { int8: 20, int8Array: 1016, date: 1082, dateArray: 1182, textArray: 1009 };

const textArray: (text: string) => (string | null)[] = pg.types.getTypeParser(oids.textArray, 'text');

const decoders = new Map<number, (text: string) => unknown>([
  [oids.int8, Number],
  [oids.int8Array, (text) => textArray(text).map((item) => (item === null ? null : Number(item)))],
  // A calendar day has no time zone. A Date would show the day before in time zones west of Greenwich.
  [oids.date, (text) => text],
  [oids.dateArray, textArray],
]);

/**
 * Leaves every value as the text that PostgreSQL sent. PGlite also reads the `types` of a query as the types of its
 * parameters; the empty array leaves those undeclared.
 */
export const textTypes: CustomTypesConfig = Object.assign([], {
  getTypeParser: () => (text: string) => text,
});

/** The function that converts texts of this type. */
export function decoderOf(type: number): (text: string) => unknown {
  return decodedTypes.getTypeParser(type, 'text') as (text: string) => unknown;
}

/** Converts the text of a column of this type. */
export function decodeText(type: number, text: string | null): unknown {
  return text === null ? null : decoderOf(type)(text);
}
