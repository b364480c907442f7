/** How pg writes a value as a parameter; its own types leave this module out. */
declare module 'pg/lib/utils.js' {
  export function prepareValue(value: unknown): unknown;
}
