import { isEnumType } from 'graphql';
import { schema } from '../schema/index.ts';
import type { JsonSchema } from './json-schema.ts';

/** The code of each value of a GraphQL enum, which REST shows as a number. */
export function codesOf(enumName: string): ReadonlyMap<string, number> {
  return new Map(valuesOf(enumName).map(({ name, value }) => [name, Number(value)]));
}

/** The schema of a code. */
export function codeSchema(codes: ReadonlyMap<string, number>): JsonSchema {
  const numbers = [...codes.values()];
  const [minimum, maximum] = [Math.min(...numbers), Math.max(...numbers)];
  return { type: 'integer', format: 'int32', enum: numbers, minimum, maximum };
}

/** The values of a GraphQL enum by their spelling in REST, which is in lower case: `{ active: 'ACTIVE', … }`. */
export function namesOf<Name extends string>(enumName: string): Readonly<Record<string, Name>> {
  // The type of the caller is generated from the enum of this name.
  return Object.fromEntries(valuesOf(enumName).map(({ name }) => [name.toLowerCase(), name as Name]));
}

/** The values in the order of their codes, because the schema sorts them by name. */
function valuesOf(enumName: string) {
  const type = schema.getType(enumName);
  if (!isEnumType(type)) throw new Error(`The graph has no enum ${enumName}.`);
  return type.getValues().toSorted((a, b) => Number(a.value) - Number(b.value));
}
