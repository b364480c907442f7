import { OperationTypeNode } from 'graphql';
import type { Context } from '../../resolvers/context.ts';
import type { CoercedOperation } from '../selections/operation.ts';
import { extensionsOf } from '../../schema/builder/output-extensions.ts';
import { selectsField } from '../selections/selected-fields.ts';
import { perVariant } from '../selections/variants.ts';

/** Whether an operation reads the log of changes, which is read from the primary, so that a replica may not have its rows yet. */
const readsLog = perVariant((coerced: CoercedOperation) =>
  selectsField(coerced, ({ field }) => {
    const { readsLog: reads, firstRead } = extensionsOf(field);
    return reads === true || firstRead !== undefined;
  }),
);

/** The context without its replica, if the operation has to read from the primary. */
export function withReplicaIfAllowed<Ctx extends Context>(coerced: CoercedOperation, context: Ctx): Ctx {
  if (!context.replica) return context;
  const isQuery = coerced.operation.operation === OperationTypeNode.QUERY;
  return isQuery && !readsLog(coerced) ? context : { ...context, replica: undefined };
}
