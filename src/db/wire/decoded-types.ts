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

const INT8 = 20;
const INT8_ARRAY = 1016;
const DATE = 1082;
const DATE_ARRAY = 1182;
const TEXT_ARRAY: number = 1009;

const textArray: (text: string) => (string | null)[] = pg.types.getTypeParser(TEXT_ARRAY, 'text');

const decoders = new Map<number, (text: string) => unknown>([
  [INT8, Number],
  [INT8_ARRAY, (text) => textArray(text).map((item) => (item === null ? null : Number(item)))],
  // A calendar day has no time zone. A Date would show the day before in time zones west of Greenwich.
  [DATE, (text) => text],
  [DATE_ARRAY, textArray],
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
