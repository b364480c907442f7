import { type OperationDefinitionNode, OperationTypeNode } from 'graphql';
import { sql } from 'kysely';
import { inSnapshot } from '../../db/engine/transaction.ts';
import { Loaders } from '../../db/reads/loaders.ts';
import type { Context } from '../../resolvers/context.ts';
import { raise } from '../../resolvers/errors.ts';
import type { OperationContext } from './execute.ts';
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
 * Reads for a query from one snapshot of the database. Reference data is read from it too, because the cached data may be newer
 * or older. Nothing waits for changes meanwhile, since the snapshot would not show them.
 */
export function inOneSnapshot<Result>(
  context: OperationContext,
  read: (inside: OperationContext) => Promise<Result>,
): Promise<Result> {
  const { db, connect, bounds } = context;
  // A public operation reads no data.
  if (!db || !connect) return read(context);
  return inSnapshot({ db, connect }, (inside) =>
    read({
      ...context,
      ...inside,
      loaders: new Loaders(inside.db, bounds),
      shared: undefined,
      replica: undefined,
      reference: undefined,
      changes: undefined,
      turn: undefined,
      // The embedded engine has only this connection.
      ping: async () => void (await sql`select 1`.execute(inside.db)),
    }),
  );
}
