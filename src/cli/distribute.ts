import {
  distribute,
  isCoordinator,
  selectCitusVersion,
  selectDistributableTables,
  selectNodesWithoutTriggers,
} from '../db/distribution.ts';
import type { Database } from '../db/engine/engine.ts';
import { pluralize } from './pluralize.ts';
import type { CommandEnvironment } from './environment.ts';
import { CommandError, exitCodes } from './failures.ts';
import { Progress } from './progress.ts';

/** Distributes the tables that are not distributed yet, and prints them. */
export async function runDistribute(
  env: CommandEnvironment,
  { json }: { readonly json?: boolean | undefined },
): Promise<number> {
  const { database, stdout, stderr, signal } = env;
  await requireCoordinator(database);
  const tables = await selectDistributableTables(database.unscoped);
  const missing = tables.filter(({ isDone }) => !isDone);
  const progress = new Progress(env, { total: missing.length, unit: 'table' });
  let done = 0;
  if (missing.length > 0) {
    await database.unscoped
      .transaction()
      .execute((trx) =>
        distribute(trx, missing, (table) => {
          signal.throwIfAborted();
          progress.update(done, { detail: table });
          done += 1;
        }),
      )
      .finally(() => progress.end());
  }
  const tablesOf = (how: string) => missing.filter((one) => one.how === how).map(({ table }) => table);
  const [distributed, copied] = [tablesOf('distributed'), tablesOf('copied')];
  if (json) stdout(`${JSON.stringify({ distributed, copied })}\n`);
  else if (missing.length === 0)
    stderr(`All ${pluralize(tables.length, 'table')} were distributed already.\n`);
  else {
    stdout(`Distributed by workspace: ${distributed.join(', ') || 'none'}\n`);
    stdout(`Copied to every node: ${copied.join(', ') || 'none'}\n`);
  }
  return exitCodes.done;
}

/** Refuses a database whose tables cannot be distributed, before anything is changed. */
async function requireCoordinator({ engine, unscoped }: Database): Promise<void> {
  if (engine === 'embedded')
    throw new CommandError('The embedded engine is one process. Set DATABASE_URL to a coordinator of Citus.');
  const version = await selectCitusVersion(unscoped);
  if (!version)
    throw new CommandError(
      'The database does not have the extension citus, so there is nothing to distribute to.',
    );
  if (!(await isCoordinator(unscoped)))
    throw new CommandError(
      'The database is not the coordinator of a cluster with workers. Add them with citus_add_node first.',
    );
  const refusing = await selectNodesWithoutTriggers(unscoped);
  if (refusing.length > 0)
    throw new CommandError(
      `Tables with triggers cannot be distributed. Set citus.enable_unsafe_triggers = on at ${refusing.join(', ')}; all triggers here stay within a workspace.`,
    );
}
