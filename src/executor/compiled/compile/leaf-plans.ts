import type { FieldNode, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { ObjectPlan } from './objects.ts';

/** The maximum number of characters of all selections with a cached plan, which suffices for about a thousand. */
const maxCharacters = 100_000;
const plans = new WeakMap<GraphQLSchema, LRUCache<string, ObjectPlan>>();

/**
 * The plan of a selection on cached rows. Operations share the plans that select only leaves of the row, and with them
 * the JSON of each row.
 */
export function leafPlan(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  fields: ReadonlyMap<string, readonly FieldNode[]>,
  make: () => ObjectPlan,
): ObjectPlan {
  const selection = leavesOf(type, fields);
  if (selection === undefined) return make();
  let cached = plans.get(schema);
  if (!cached) {
    cached = new LRUCache({ maxSize: maxCharacters, maxEntrySize: maxCharacters / 10 });
    plans.set(schema, cached);
  }
  const known = cached.get(selection);
  if (known) return known;
  const plan = make();
  if (plan.isFixed) cached.set(selection, plan, { size: selection.length });
  return plan;
}

/** The selection as a text; undefined where a field has arguments or a selection. */
function leavesOf(
  type: GraphQLObjectType,
  fields: ReadonlyMap<string, readonly FieldNode[]>,
): string | undefined {
  let text = type.name;
  for (const [key, nodes] of fields) {
    if (nodes.some((node) => node.selectionSet ?? node.arguments?.length)) return undefined;
    text += ` ${key}:${nodes[0]?.name.value}`;
  }
  return text;
}
