import { isEnumType } from 'graphql';
import { schema } from '../schema/index.ts';
import type { JsonSchema } from './json-schema.ts';

/** The number behind each name of an enum of the graph: what REST shows where it shows codes. */
export function codesOf(enumName: string): ReadonlyMap<string, number> {
  return new Map(valuesOf(enumName).map(({ name, value }) => [name, Number(value)]));
}

/** What describes a number of an enum. */
export function codeSchema(codes: ReadonlyMap<string, number>): JsonSchema {
  const numbers = [...codes.values()];
  const [minimum, maximum] = [Math.min(...numbers), Math.max(...numbers)];
  return { type: 'integer', format: 'int32', enum: numbers, minimum, maximum };
}

/** The names of an enum of the graph by how REST spells them, in lower case: `{ active: 'ACTIVE', … }`. */
export function namesOf<Name extends string>(enumName: string): Readonly<Record<string, Name>> {
  // The caller's type is generated from this schema's enum of that name.
  return Object.fromEntries(valuesOf(enumName).map(({ name }) => [name.toLowerCase(), name as Name]));
}

/** In the order of the code table; a schema sorts its names. */
function valuesOf(enumName: string) {
  const type = schema.getType(enumName);
  if (!isEnumType(type)) throw new Error(`The graph has no enum ${enumName}.`);
  return type.getValues().toSorted((a, b) => Number(a.value) - Number(b.value));
}
