import { getArgumentValues, type GraphQLField, type GraphQLResolveInfo, type GraphQLSchema } from 'graphql';
import { type CostNode, isIncluded, leavesOf } from './tree.ts';

/** The numbers of objects in an answer, and of the values in their leaves. */
export interface AnswerCounts {
  readonly objects: number;
  readonly values: number;
}

/**
 * Counting stops after this many different objects of one operation, and after this many fields of them that return objects, most of
 * which may be null. The standard query has a fifth and a third as many. Types refer to each other, so a short selection can ask for
 * millions.
 */
const maxCounted = 20_000;

const nothing: AnswerCounts = { objects: 0, values: 0 };
/** A field that returns objects is in the answer even if it is null or an empty list. */
const onlyField: AnswerCounts = { objects: 0, values: 1 };
const countless: AnswerCounts = { objects: Infinity, values: Infinity };

interface SelectedField {
  readonly field: GraphQLField<unknown, unknown>;
  readonly args: Readonly<Record<string, unknown>>;
  /** The values in the leaves of each object. */
  readonly leaves: number;
}

/**
 * Counts what `__schema` and `__type` return in one operation. Deprecated fields always count. The counts are infinite where there
 * are too many objects.
 */
export class SchemaCount {
  readonly #variables: Record<string, unknown>;
  readonly #countedParts = new Map<CostNode, Map<unknown, AnswerCounts>>();
  /** The counted pairs of a selection and a part of the schema; each is at least one object of the answer. */
  #objects = 0;
  #fields = 0;
  readonly #selected = new Map<CostNode, SelectedField | undefined>();

  constructor(variables: Record<string, unknown>) {
    this.#variables = variables;
  }

  /** Counts a root field with everything below it. */
  count(root: CostNode, schema: GraphQLSchema): AnswerCounts {
    // The resolvers of introspection read nothing else of it.
    return this.#countField(root, undefined, { schema } as GraphQLResolveInfo);
  }

  #countField(node: CostNode, parent: unknown, info: GraphQLResolveInfo): AnswerCounts {
    const selected = this.#fieldOf(node);
    if (!selected) return nothing;
    this.#fields += 1;
    if (this.#fields > maxCounted) return countless;
    const { field, args, leaves } = selected;
    const value: unknown = field.resolve?.(parent, args, undefined, info);
    let sum = onlyField;
    for (const part of [value].flat()) {
      sum = plus(sum, this.#countPart(node, part, leaves, info));
      if (sum === countless) break;
    }
    return sum;
  }

  /** The field of a node, computed once for all parents: counting its leaves takes long, since there may be thousands. */
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

  #countPart(node: CostNode, part: unknown, leaves: number, info: GraphQLResolveInfo): AnswerCounts {
    if (part === undefined || part === null) return nothing;
    let known = this.#countedParts.get(node);
    if (!known) this.#countedParts.set(node, (known = new Map()));
    const counted = known.get(part);
    if (counted) return counted;
    this.#objects += 1;
    if (this.#objects > maxCounted) return countless;
    let sum: AnswerCounts = { objects: 1, values: leaves };
    for (const below of node.below) {
      sum = plus(sum, this.#countField(below, part, info));
      if (sum === countless) break;
    }
    known.set(part, sum);
    return sum;
  }
}

function plus(one: AnswerCounts, other: AnswerCounts): AnswerCounts {
  if (one === countless || other === countless) return countless;
  return { objects: one.objects + other.objects, values: one.values + other.values };
}
