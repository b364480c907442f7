import {
  type FieldNode,
  getNamedType,
  type GraphQLField,
  type GraphQLNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import type { CoercedOperation } from './operation.ts';
import { isExcludedBy, type SelectionVisit, visitSelections } from './visit-selections.ts';

/** A field that an operation selects, where it is selected, and the type that has it. */
interface SelectedField {
  readonly field: GraphQLField<unknown, unknown>;
  readonly node: FieldNode;
  readonly parent: GraphQLNamedType;
}

/** Whether an operation selects a field that passes the test. */
export function selectsField(
  operation: CoercedOperation,
  test: (selected: SelectedField) => boolean,
): boolean {
  let found = false;
  visitFields(operation, (selected) => {
    found ||= test(selected);
  });
  return found;
}

/**
 * Calls `visit` for each field that an operation selects, at any depth, except those of introspection, which belong to no type. Each
 * fragment is visited once, even if it is spread often.
 */
export function visitFields(
  { schema, operation, fragments, variables }: CoercedOperation,
  visit: (selected: SelectedField) => void,
): void {
  const entered = new Set<string>();
  const visiting: SelectionVisit = {
    schema,
    fragments,
    isExcluded: (selection) => isExcludedBy(selection, variables),
    enters: (fragment) => {
      if (entered.has(fragment)) return false;
      entered.add(fragment);
      return true;
    },
    field: (node, parent) => {
      const fields = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields() : {};
      const field = fields[node.name.value];
      if (!field) return;
      visit({ field, node, parent });
      const type = getNamedType(field.type);
      if (node.selectionSet && isCompositeType(type)) visitSelections(visiting, node.selectionSet, type);
    },
  };
  const root = schema.getRootType(operation.operation);
  if (root) visitSelections(visiting, operation.selectionSet, root);
}
