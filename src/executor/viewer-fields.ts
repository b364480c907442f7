import { getNamedType, type GraphQLNamedType, isCompositeType, isInterfaceType, isObjectType } from 'graphql';
import type { Plan } from '../schema/builder/plan.ts';
import type { ScopedOperation } from './scope-rule.ts';
import { isCutBy, type SelectionWalk, walkSelections } from './selections.ts';
import { perVariant } from './variants.ts';

/**
 * Whether an operation selects a field whose value is not the same for every token that may read it: one that is computed for
 * the viewer or by a resolver, which has the whole context.
 */
export const dependsOnViewer = perVariant(({ schema, operation, fragments, variables }: ScopedOperation) => {
  let depends = false;
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
      const { plan, pothosExposedField } = field.extensions as { plan?: Plan; pothosExposedField?: string };
      if (plan ? isOfViewer(plan) : pothosExposedField === undefined && !isOfConnection(parent))
        depends = true;
      const type = getNamedType(field.type);
      if (selectionSet && isCompositeType(type)) walkSelections(walk, selectionSet, type);
    },
  };
  const root = schema.getRootType(operation.operation);
  if (root) walkSelections(walk, operation.selectionSet, root);
  return depends;
});

function isOfViewer(plan: Plan): boolean {
  switch (plan.kind) {
    case 'computed':
      return plan.context;
    case 'exists':
    case 'source':
    case 'series':
    case 'nodes':
      return true;
    default:
      return false;
  }
}

/** The fields of connections and edges, which have no plans of their own. */
function isOfConnection({ name }: GraphQLNamedType): boolean {
  return /(Connection|Edge)$|^PageInfo$/.test(name);
}
