/** The part of JSON Schema 2020-12 (OpenAPI 3.1) that the REST layer uses. */
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
  /** The name of the component; a schema without a name is printed inline. */
  readonly title?: string;
  readonly description?: string;
}

/** The schema of a nullable value. */
export function orNull(schema: JsonSchema): JsonSchema {
  // A schema with a name is printed as a reference, whose type cannot be changed.
  if (schema.title) return { anyOf: [schema, { type: 'null' }] };
  return {
    ...schema,
    type: [schema.type ?? 'object', 'null'].flat(),
    ...(schema.enum && { enum: [...schema.enum, null] }),
  };
}
