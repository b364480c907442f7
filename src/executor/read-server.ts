import { OperationTypeNode } from 'graphql';
import type { Context } from '../resolvers/context.ts';
import type { ScopedOperation } from './scope-rule.ts';
import { visitFields } from './selected-fields.ts';
import { perVariant } from './variants.ts';

/** Whether an operation reads the log of changes, which is read from the primary, so that a replica may not have its rows yet. */
const readsLog = perVariant((scoped: ScopedOperation) => {
  let found = false;
  visitFields(scoped, ({ extensions }) => {
    if (extensions['readsLog'] === true || extensions['firstRead'] !== undefined) found = true;
  });
  return found;
});

/** The context without the replica, where the operation has to read from the primary. */
export function onItsServer<Ctx extends Context>(scoped: ScopedOperation, context: Ctx): Ctx {
  if (!context.reads) return context;
  const isQuery = scoped.operation.operation === OperationTypeNode.QUERY;
  return isQuery && !readsLog(scoped) ? context : { ...context, reads: undefined };
}
