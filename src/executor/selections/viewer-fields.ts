import { extensionsOf } from '../../schema/builder/output-extensions.ts';
import { dependenciesOf } from '../../schema/builder/plan.ts';
import type { CoercedOperation } from './operation.ts';
import { selectsField } from './selected-fields.ts';
import { isWrapper } from './wrapper-types.ts';
import { perVariant } from './variants.ts';

/**
 * Whether an operation selects a field whose value may differ between tokens that may read it: one that is computed for the
 * viewer, or by a resolver, which receives the whole context.
 */
export const dependsOnViewer = perVariant((coerced: CoercedOperation) =>
  selectsField(coerced, ({ field, parent }) => {
    const { plan, pothosExposedField } = extensionsOf(field);
    return plan
      ? dependenciesOf(plan).dependsOnViewer
      : pothosExposedField === undefined && !isWrapper(parent);
  }),
);
