import {
  type ASTNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  Kind,
  print,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { TableName } from '../../../db/tables/tables.ts';
import { isExcludedBy, type SelectionVisit, visitSelections } from '../../selections/visit-selections.ts';
import { visitNodes } from '../../documents/visit-nodes.ts';
import type { Columns } from './columns.ts';
import type { ObjectPlan } from './objects.ts';

/** What decides which fields a selection has. */
interface SelectionSource {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** An operation that is being compiled. */
export interface Compilation extends SelectionSource {
  /** The tables whose rows the operation shows with a written row that they belong to; the write may preload them. */
  readonly preloads: Set<TableName>;
  /** Compiles the selections on an object of this type. */
  compileObject(type: GraphQLObjectType, nodes: readonly FieldNode[], columns: Columns): ObjectPlan;
}

/** The fields of an object by their response names; GraphQL merges those that have the same one. */
export function collectFields(
  source: SelectionSource,
  type: GraphQLObjectType,
  nodes: readonly { selectionSet?: SelectionSetNode | undefined }[],
): Map<string, FieldNode[]> {
  const { schema, fragments, variables } = source;
  const fields = new Map<string, FieldNode[]>();
  const entered = new Set<string>();
  const collect: SelectionVisit = {
    schema,
    fragments,
    isExcluded: (selection) => isExcludedBy(selection, variables) || !applies(source, type, selection),
    enters: (fragment) => {
      const isFirst = !entered.has(fragment);
      entered.add(fragment);
      return isFirst;
    },
    field: (node) => {
      const key = node.alias?.value ?? node.name.value;
      const merged = fields.get(key);
      if (merged) merged.push(node);
      else fields.set(key, [node]);
    },
  };
  for (const { selectionSet } of nodes) if (selectionSet) visitSelections(collect, selectionSet, type);
  return fields;
}

/** Whether a selection applies to the type; the type condition of a fragment may exclude it. */
function applies(
  { schema, fragments }: SelectionSource,
  type: GraphQLObjectType,
  selection: SelectionNode,
): boolean {
  if (selection.kind === Kind.FIELD) return true;
  const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
  const condition = fragment?.typeCondition?.name.value;
  if (condition === undefined || condition === type.name) return true;
  const named = schema.getType(condition);
  return isAbstractType(named) && schema.isSubType(named, type);
}

/** Whether the arguments of a field contain variables. */
export function usesVariables(nodes: readonly FieldNode[]): boolean {
  return nodes.some(({ arguments: args = [] }) => args.some(containsVariable));
}

/** Whether a node is a variable, or one of the nodes below it is. */
export function containsVariable(node: ASTNode): boolean {
  let found = false;
  visitNodes(node, ({ kind }) => {
    if (kind === Kind.VARIABLE) found = true;
  });
  return found;
}

/** The arguments of a field as a text that does not depend on their order. */
export function printedArguments([node]: readonly FieldNode[]): string {
  return (node?.arguments ?? [])
    .map((argument) => print(argument))
    .toSorted()
    .join(', ');
}
