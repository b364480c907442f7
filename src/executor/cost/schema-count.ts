import { getArgumentValues, type GraphQLField, type GraphQLResolveInfo, type GraphQLSchema } from 'graphql';
import { type CostNode, isIncluded, leavesOf } from './tree.ts';

/** The objects in an answer, and the values of their leaves. */
export interface Amounts {
  readonly objects: number;
  readonly values: number;
}

/**
 * Counting stops after this many different objects of one operation, and after this many fields of them that return objects, most of
 * which may be null. The standard query has a fifth and a third as many. Types refer to each other, so a short selection can ask for
 * millions.
 */
const maxCounted = 20_000;

const nothing: Amounts = { objects: 0, values: 0 };
/** A field that returns objects is in the answer even if it is null or an empty list. */
const onlyField: Amounts = { objects: 0, values: 1 };
const countless: Amounts = { objects: Infinity, values: Infinity };

interface SelectedField {
  readonly field: GraphQLField<unknown, unknown>;
  readonly args: Readonly<Record<string, unknown>>;
  /** The values in the leaves of each object. */
  readonly leaves: number;
}

/**
 * Counts in the schema what `__schema` and `__type` of one operation return. Deprecated fields always count. The amounts
 * are infinite where there are too many objects to count.
 */
export class SchemaCount {
  readonly #variables: Record<string, unknown>;
  readonly #known = new Map<CostNode, Map<unknown, Amounts>>();
  /** The counted pairs of a selection and a part of the schema; each is at least one object of the answer. */
  #objects = 0;
  #fields = 0;
  readonly #selected = new Map<CostNode, SelectedField | undefined>();

  constructor(variables: Record<string, unknown>) {
    this.#variables = variables;
  }

  /** The amounts of a root field with everything below it. */
  of(root: CostNode, schema: GraphQLSchema): Amounts {
    // The resolvers of introspection read nothing else of it.
    return this.#below(root, undefined, { schema } as GraphQLResolveInfo);
  }

  #below(node: CostNode, parent: unknown, info: GraphQLResolveInfo): Amounts {
    const selected = this.#fieldOf(node);
    if (!selected) return nothing;
    this.#fields += 1;
    if (this.#fields > maxCounted) return countless;
    const { field, args, leaves } = selected;
    const value: unknown = field.resolve?.(parent, args, undefined, info);
    let sum = onlyField;
    for (const part of [value].flat()) {
      sum = plus(sum, this.#part(node, part, leaves, info));
      if (sum === countless) break;
    }
    return sum;
  }

  /** The same for all parents. Computing it takes longer than all else, since a leaf may be selected thousands of times. */
  #fieldOf(node: CostNode): SelectedField | undefined {
    let selected = this.#selected.get(node);
    if (selected || this.#selected.has(node)) return selected;
    const occurrence = node.occurrences.find(({ conditions }) => isIncluded(conditions, this.#variables));
    if (occurrence) {
      const { field } = occurrence;
      const args = { ...getArgumentValues(field, occurrence.node, this.#variables), includeDeprecated: true };
      selected = { field, args, leaves: leavesOf(node, this.#variables) };
    }
    this.#selected.set(node, selected);
    return selected;
  }

  #part(node: CostNode, part: unknown, leaves: number, info: GraphQLResolveInfo): Amounts {
    if (part === undefined || part === null) return nothing;
    let known = this.#known.get(node);
    if (!known) this.#known.set(node, (known = new Map()));
    const counted = known.get(part);
    if (counted) return counted;
    this.#objects += 1;
    if (this.#objects > maxCounted) return countless;
    let sum: Amounts = { objects: 1, values: leaves };
    for (const below of node.below) {
      sum = plus(sum, this.#below(below, part, info));
      if (sum === countless) break;
    }
    known.set(part, sum);
    return sum;
  }
}

function plus(one: Amounts, other: Amounts): Amounts {
  if (one === countless || other === countless) return countless;
  return { objects: one.objects + other.objects, values: one.values + other.values };
}
