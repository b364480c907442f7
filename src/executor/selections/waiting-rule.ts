import { raise } from '../../resolvers/errors.ts';
import { extensionsOf } from '../../schema/builder/output-extensions.ts';
import { collectFields } from '../compiled/compile/selection.ts';
import { argumentReader } from '../inputs/argument-values.ts';
import type { CoercedOperation } from './operation.ts';
import { perVariant } from './variants.ts';

/**
 * Refuses an operation in which several fields wait. They would have to wait at the same time, although a request gives its ticket
 * back only once while it waits, and the answer would come when the last of them is done.
 */
export function checkWaits(coerced: CoercedOperation): void {
  const waiting = waitsOf(coerced).filter((waits) => waits(coerced.variables));
  if (waiting.length <= 1) return;
  raise(
    'invalid_request',
    'Only one field of an operation may wait. Send the others in their own operations.',
    [{ field: 'waitSeconds', message: 'may be more than 0 for one field of an operation' }],
  );
}

/** For each field that may wait, whether it waits with these variables. Only fields of the root may. */
const waitsOf = perVariant((coerced: CoercedOperation): ((variables: Variables) => boolean)[] => {
  const root = coerced.schema.getRootType(coerced.operation.operation);
  if (!root) return [];
  const fields = root.getFields();
  return [...collectFields(coerced, root, [coerced.operation]).values()].flatMap(([node]) => {
    const field = node && fields[node.name.value];
    const { waits } = field ? extensionsOf(field) : {};
    if (!field || !waits) return [];
    const read = argumentReader(field, node);
    return (variables) => waits(read(variables));
  });
});

type Variables = Record<string, unknown>;
