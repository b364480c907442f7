import {
  type FieldNode,
  type FragmentDefinitionNode,
  getDirectiveValues,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  isAbstractType,
  Kind,
  print,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { walk } from '../walk.ts';
import type { Columns } from './columns.ts';
import type { ObjectPlan } from './objects.ts';

/** What selections are read against. */
export interface Reading {
  schema: GraphQLSchema;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  variables: Readonly<Record<string, unknown>>;
}

/** The same while an operation is compiled, with the way down into the objects below. */
export interface Compiling extends Reading {
  /** Tables of which something is shown that a write may tell without being asked again. */
  readonly shown: Set<string>;
  object(type: GraphQLObjectType, nodes: readonly FieldNode[], columns: Columns): ObjectPlan;
}

/** The fields of an object by their keys in the answer, those of the same key together, as GraphQL merges them. */
export function collectFields(
  reading: Reading,
  type: GraphQLObjectType,
  nodes: readonly { selectionSet?: SelectionSetNode | undefined }[],
): Map<string, FieldNode[]> {
  const fields = new Map<string, FieldNode[]>();
  const spread = new Set<string>();
  const collect = (selections: readonly SelectionNode[]): void => {
    for (const selection of selections) {
      if (isCut(selection, reading)) continue;
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value;
        const merged = fields.get(key);
        if (merged) merged.push(selection);
        else fields.set(key, [selection]);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        if (applies(reading, type, selection.typeCondition?.name.value))
          collect(selection.selectionSet.selections);
      } else {
        const name = selection.name.value;
        const fragment = reading.fragments.get(name);
        if (!fragment || spread.has(name)) continue;
        spread.add(name);
        if (applies(reading, type, fragment.typeCondition.name.value))
          collect(fragment.selectionSet.selections);
      }
    }
  };
  for (const { selectionSet } of nodes) collect(selectionSet?.selections ?? []);
  return fields;
}

function applies({ schema }: Reading, type: GraphQLObjectType, condition: string | undefined): boolean {
  if (condition === undefined || condition === type.name) return true;
  const named = schema.getType(condition);
  return isAbstractType(named) && schema.isSubType(named, type);
}

function isCut(node: SelectionNode, { variables }: Reading): boolean {
  if (!node.directives?.length) return false;
  const skip = getDirectiveValues(GraphQLSkipDirective, node, variables);
  const include = getDirectiveValues(GraphQLIncludeDirective, node, variables);
  return skip?.if === true || include?.if === false;
}

/** Do the arguments of a field depend on variables. */
export function usesVariables(nodes: readonly FieldNode[]): boolean {
  let found = false;
  for (const { arguments: given = [] } of nodes) {
    for (const argument of given) {
      walk(argument, ({ kind }) => {
        if (kind === Kind.VARIABLE) found = true;
      });
    }
  }
  return found;
}

/** The arguments of a field as a text: two fields of an object with the same ones ask for the same. */
export function printedArguments([node]: readonly FieldNode[]): string {
  return (node?.arguments ?? [])
    .map((argument) => print(argument))
    .toSorted()
    .join(', ');
}
