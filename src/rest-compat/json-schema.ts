/** The part of JSON Schema 2020-12 (OpenAPI 3.1) that the words of this face are described with. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly default?: string | number | boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly items?: JsonSchema;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly anyOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly const?: string | number | boolean;
  /** The name that a component is printed under; what is described inline has none. */
  readonly title?: string;
  readonly description?: string;
}

/** The greatest whole number that the graph and the tables take. */
export const largestInt32 = 2_147_483_647;

/** The schema of a value that may also be null. */
export function orNull(schema: JsonSchema): JsonSchema {
  // What is printed by its name cannot be another type in one place.
  if (schema.title) return { anyOf: [schema, { type: 'null' }] };
  return {
    ...schema,
    type: [schema.type ?? 'object', 'null'].flat(),
    ...(schema.enum && { enum: [...schema.enum, null] }),
  };
}
