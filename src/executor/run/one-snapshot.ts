import { type OperationDefinitionNode, OperationTypeNode } from 'graphql';
import { sql } from 'kysely';
import { inSnapshot } from '../../db/engine/transaction.ts';
import { Loaders } from '../../db/reads/loaders.ts';
import type { Context } from '../../resolvers/context.ts';
import { raise } from '../../resolvers/errors.ts';
import type { OperationContext } from './execute.ts';
import { runFallback } from './fallbacks.ts';
import { snapshotHeader } from './snapshot-header.ts';

/**
 * Whether the operation is to read one snapshot. Throws `invalid_request` for any other value, and for an operation that is not a
 * query.
 */
export function asksForSnapshot(
  { snapshot = 'false' }: Pick<Context, 'snapshot'>,
  { operation }: OperationDefinitionNode,
): boolean {
  if (snapshot === 'false') return false;
  if (snapshot !== 'true') refuse('must be true or false');
  if (operation !== OperationTypeNode.QUERY) refuse('is only for queries');
  return true;
}

function refuse(message: string): never {
  raise('invalid_request', `${snapshotHeader} ${message}.`, [{ field: snapshotHeader, message }]);
}

/**
 * Answers a query from one snapshot of the database, with graphql-js, because the compiled executor borrows connections of its own.
 * Reference data is read from it too, because the cached data may be newer or older. Nothing waits for changes meanwhile, since the
 * snapshot would not show them.
 */
export function inOneSnapshot<Result>(
  context: OperationContext,
  answer: (inside: OperationContext) => Promise<Result>,
): Promise<Result> {
  const { db, bounds, executor } = context;
  // A public operation reads no data.
  if (!db) return answer(context);
  const run = () =>
    inSnapshot(db, (trx) =>
      answer({
        ...context,
        db: trx,
        loaders: new Loaders(trx, bounds),
        connect: undefined,
        shared: undefined,
        replica: undefined,
        reference: undefined,
        changes: undefined,
        executor: 'graphql-js',
        // The embedded engine has only this connection.
        ping: async () => void (await sql`select 1`.execute(trx)),
      }),
    );
  // First the permit, then the connection: other fallbacks wait for a connection while they hold a permit.
  return executor === 'graphql-js' ? run() : runFallback(run);
}
