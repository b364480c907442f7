import type { FieldNode, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { ObjectPlan } from './objects.ts';

/** Characters of the selections whose plans are cached: some thousand of them. */
const maxCharacters = 100_000;
const plans = new WeakMap<GraphQLSchema, LRUCache<string, ObjectPlan>>();

/**
 * The plan of a selection on rows that are cached in memory. Operations share those that show leaves of the row alone, such
 * as the name and the color of a status, and with them what each row is written as.
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
  const made = make();
  if (made.isFixed) cached.set(selection, made, { size: selection.length });
  return made;
}

/** The selection as a text; undefined where a field has arguments or fields of its own. */
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
