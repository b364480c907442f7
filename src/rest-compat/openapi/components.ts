import { isDeepStrictEqual } from 'node:util';
import type { JsonSchema } from '../json-schema.ts';

/** A schema as it is printed: what has a name stands in its place by reference. */
export type Printed = Readonly<Record<string, unknown>>;

/** Gathers the schemas that have a name while others are printed. */
export class Components {
  readonly #named = new Map<string, { schema: JsonSchema; printed: Printed }>();

  /** A schema, or the reference to it when it has a name; two schemas of one name are a mistake. */
  print(schema: JsonSchema): Printed {
    const { title, ...inline } = schema;
    if (title === undefined) return this.#inline(inline);
    const known = this.#named.get(title);
    if (known && !isDeepStrictEqual(known.schema, schema))
      throw new Error(`Two different schemas are called ${title}.`);
    if (!known) this.#named.set(title, { schema, printed: this.#inline(inline) });
    return { $ref: `#/components/schemas/${title}` };
  }

  /** All that were named so far, by their names. */
  schemas(): Printed {
    const byName = [...this.#named].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(byName.map(([name, { printed }]) => [name, printed]));
  }

  #inline(schema: JsonSchema): Printed {
    const { items, properties, anyOf, ...rest } = schema;
    return {
      ...rest,
      ...(items && { items: this.print(items) }),
      ...(anyOf && { anyOf: anyOf.map((each) => this.print(each)) }),
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, each]) => [name, this.print(each)]),
        ),
      }),
    };
  }
}
