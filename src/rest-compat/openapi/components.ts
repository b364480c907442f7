import { isDeepStrictEqual } from 'node:util';
import type { JsonSchema } from '../json-schema.ts';

/** An object of the OpenAPI document. In it, schemas with a name are replaced by references. */
export type OpenApiObject = Readonly<Record<string, unknown>>;

/** Prints schemas, and collects those with names for `#/components/schemas`. */
export class Components {
  readonly #named = new Map<string, { schema: JsonSchema; printed: OpenApiObject }>();

  /** Prints a schema, or a reference to it if it has a name. Throws when two different schemas have the same name. */
  print(schema: JsonSchema): OpenApiObject {
    const { title, ...inline } = schema;
    if (title === undefined) return this.#inline(inline);
    const existing = this.#named.get(title);
    if (existing && !isDeepStrictEqual(existing.schema, schema))
      throw new Error(`Two different schemas are called ${title}.`);
    if (!existing) this.#named.set(title, { schema, printed: this.#inline(inline) });
    return { $ref: `#/components/schemas/${title}` };
  }

  /** The collected schemas by name. */
  schemas(): OpenApiObject {
    const byName = [...this.#named].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(byName.map(([name, { printed }]) => [name, printed]));
  }

  #inline(schema: JsonSchema): OpenApiObject {
    const { items, properties, anyOf, ...rest } = schema;
    return {
      ...rest,
      ...(items && { items: this.print(items) }),
      ...(anyOf && { anyOf: anyOf.map((alternative) => this.print(alternative)) }),
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, property]) => [name, this.print(property)]),
        ),
      }),
    };
  }
}
