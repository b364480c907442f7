import {
  getNamedType,
  type GraphQLField,
  type GraphQLNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import type { ScopedOperation } from './scope-rule.ts';
import { isCutBy, type SelectionWalk, walkSelections } from './selections.ts';

/** Calls `visit` for each field that an operation selects, at any depth. Each fragment is visited once, even if it is spread often. */
export function visitFields(
  { schema, operation, fragments, variables }: ScopedOperation,
  visit: (field: GraphQLField<unknown, unknown>, parent: GraphQLNamedType) => void,
): void {
  const entered = new Set<string>();
  const walk: SelectionWalk = {
    schema,
    fragments,
    isCut: (selection) => isCutBy(selection, variables),
    enters: (fragment) => {
      if (entered.has(fragment)) return false;
      entered.add(fragment);
      return true;
    },
    field: ({ name, selectionSet }, parent) => {
      const fields = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields() : {};
      const field = fields[name.value];
      if (!field) return;
      visit(field, parent);
      const type = getNamedType(field.type);
      if (selectionSet && isCompositeType(type)) walkSelections(walk, selectionSet, type);
    },
  };
  const root = schema.getRootType(operation.operation);
  if (root) walkSelections(walk, operation.selectionSet, root);
}
