import type { GraphQLNamedType } from 'graphql';
import { extensionsOf } from '../../schema/builder/output-extensions.ts';
import type { Plan } from '../../schema/builder/plan.ts';
import type { CoercedOperation } from './operation.ts';
import { visitFields } from './selected-fields.ts';
import { perVariant } from './variants.ts';

/**
 * Whether an operation selects a field whose value may differ between tokens that may read it: one that is computed for the
 * viewer, or by a resolver, which receives the whole context.
 */
export const dependsOnViewer = perVariant((scoped: CoercedOperation) => {
  let depends = false;
  visitFields(scoped, ({ field, parent }) => {
    const { plan, pothosExposedField } = extensionsOf(field);
    if (plan ? isOfViewer(plan) : pothosExposedField === undefined && !isOfConnection(parent)) depends = true;
  });
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
