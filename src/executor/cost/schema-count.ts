import { getArgumentValues, type GraphQLResolveInfo, type GraphQLSchema } from 'graphql';
import { type CostNode, isIncluded, leavesOf } from './tree.ts';

/** The objects in an answer, and the values of their leaves. */
export interface Amounts {
  readonly objects: number;
  readonly values: number;
}

/**
 * Counting stops after this many different objects of one operation, six times as many as the standard query has: types
 * refer to each other, so a short selection can ask for millions.
 */
const maxCounted = 20_000;

const nothing: Amounts = { objects: 0, values: 0 };
const countless: Amounts = { objects: Infinity, values: Infinity };

/**
 * Counts in the schema what `__schema` and `__type` of one operation return. Deprecated fields always count. The amounts
 * are infinite where there are too many objects to count.
 */
export class SchemaCount {
  readonly #variables: Record<string, unknown>;
  readonly #known = new Map<CostNode, Map<unknown, Amounts>>();
  /** The counted pairs of a selection and a part of the schema; each is at least one object of the answer. */
  #counted = 0;

  constructor(variables: Record<string, unknown>) {
    this.#variables = variables;
  }

  /** The amounts of a root field with everything below it. */
  of(root: CostNode, schema: GraphQLSchema): Amounts {
    // The resolvers of introspection read nothing else of it.
    return this.#below(root, undefined, { schema } as GraphQLResolveInfo);
  }

  #below(node: CostNode, parent: unknown, info: GraphQLResolveInfo): Amounts {
    const occurrence = node.occurrences.find(({ conditions }) => isIncluded(conditions, this.#variables));
    if (!occurrence) return nothing;
    const { field } = occurrence;
    const args = { ...getArgumentValues(field, occurrence.node, this.#variables), includeDeprecated: true };
    const value: unknown = field.resolve?.(parent, args, undefined, info);
    let sum = nothing;
    for (const part of [value].flat()) sum = plus(sum, this.#part(node, part, info));
    return sum;
  }

  #part(node: CostNode, part: unknown, info: GraphQLResolveInfo): Amounts {
    if (part === undefined || part === null) return nothing;
    let known = this.#known.get(node);
    if (!known) this.#known.set(node, (known = new Map()));
    const counted = known.get(part);
    if (counted) return counted;
    this.#counted += 1;
    if (this.#counted > maxCounted) return countless;
    let sum: Amounts = { objects: 1, values: leavesOf(node, this.#variables) };
    for (const below of node.below) sum = plus(sum, this.#below(below, part, info));
    known.set(part, sum);
    return sum;
  }
}

function plus(one: Amounts, other: Amounts): Amounts {
  return { objects: one.objects + other.objects, values: one.values + other.values };
}
