/** How pg writes a value as a parameter. The types of pg do not declare this module. */
declare module 'pg/lib/utils.js' {
  export function prepareValue(value: unknown): unknown;
}
