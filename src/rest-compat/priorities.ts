import { codesOf } from './enums.ts';
import type { Priority } from './operations.generated.ts';
import { oneOf, type Value } from './values.ts';

/** Declares a priority in a query, by its name or its number. */
export function priorityNameOrCode(description: string): Value<Priority> {
  // The type is generated from the enum with these values.
  const names = [...codesOf('Priority')].map(([name, number]) => [name as Priority, number] as const);
  return oneOf<Priority>(
    Object.fromEntries([
      ...names.map(([name]) => [name.toLowerCase(), name] as const),
      ...names.map(([name, number]) => [`${number}`, name] as const),
    ]),
    description,
  );
}
