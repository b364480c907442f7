import { chmodSync } from 'node:fs';
import type { Logger } from 'pino';
import { createDirectory } from '../../db/engine/directory-lock.ts';
import { type Database, openDatabase } from '../../db/engine/engine.ts';
import { isLockTimeout } from '../../db/engine/transaction.ts';
import { systemActor } from '../../resolvers/access/audit.ts';
import { createLogger } from '../../server/observability/logger.ts';
import { secretsOf } from '../../server/observability/redaction.ts';
import { openFiles, type ServerFiles } from '../../server/open-files.ts';
import { type RunningServer, startServer } from '../../server/server.ts';
import { addDemo, demoToken, findDemo, storedToken } from '../demo/demo-workspace.ts';
import { CommandError, exitCodes } from '../failures.ts';
import { printGreeting } from './greeting.ts';
import { migrateLocation, openUpToDate, requireCurrentSchema } from '../location/open-location.ts';
import { type CommandSocket, openCommandSocket } from '../location/socket.ts';
import type { Start } from './start.ts';
import { stopWithinMs } from './stop-limits.ts';

/** Runs the server until it is stopped, and returns the exit code. */
export async function serve(start: Start): Promise<number> {
  const { config, documents } = start;
  createDirectory(config.dataDir);
  const database = await openForServing(start);
  const files = openFiles(config);
  const token = await prepareDemo(database, files, start);
  const { link } = start;
  const worker = link?.start.number;
  const logger = await createLogger(config.logLevel, { secrets: secretsOf(config), worker });
  const server = await startServer({ database, config, logger, files, documents, link });
  const socket = await openSocket(database, files, start, logger);
  logger.info({ url: server.url, engine: database.engine }, `workgraph is ready at ${server.url}`);
  if (link) link.ready(server.url, token);
  else printGreeting(config, server.url, token);
  const reason = await start.stopped;
  logger.info({ reason }, 'stopping');
  const { drainMs } = config;
  await stop({ server, socket, database, drainMs, isReplaced: reason === 'replaced' });
  await link?.close();
  return exitCodes.done;
}

async function openForServing({ config, migrate, lock }: Start): Promise<Database> {
  const { databaseUrl, dataDir, prepared, wire } = config;
  if (databaseUrl === undefined) {
    // Only its owner may access the directory, which holds the database, the signing key and the demo's token.
    chmodSync(dataDir, 0o700);
    return openUpToDate({ dataDir, lock, wire }, printMessage);
  }
  if (migrate) await migrateLocation(config, printMessage);
  const database = await openDatabase(
    { url: databaseUrl, prepared, wire, ...config.pool },
    config.readDatabaseUrls,
  );
  await requireCurrentSchema(database).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  return database;
}

/** How long a start waits for another process that creates workspaces. */
const demoWaitMs = 60_000;

/**
 * Adds the demo to a new embedded database, and to an external one only with `--demo`. Returns the demo's token, if
 * any.
 */
async function prepareDemo(
  database: Database,
  { store }: ServerFiles,
  { config: { dataDir }, demo }: Start,
): Promise<string | undefined> {
  const isEmbedded = database.engine === 'embedded';
  if (demo === false || (!demo && !isEmbedded)) return storedToken(database, dataDir);
  const untilMs = performance.now() + demoWaitMs;
  for (let tries = 0; ; tries += 1) {
    const { workspaceId, isEmpty } = await findDemo(database);
    if (workspaceId !== undefined) return demoToken(database, dataDir, systemActor, workspaceId);
    if (!demo && !isEmpty) return storedToken(database, dataDir);
    if (!isEmpty && !isEmbedded)
      throw new CommandError(
        'The database has workspaces but not the demo, and --demo fills only an empty one. Start without it; `npx workgraph seed` adds the demo beside the workspaces.',
      );
    if (tries === 0) printMessage('Creating the demo workspace …\n');
    if (tries === 1) printMessage('Another process is creating workspaces: waiting for it …\n');
    try {
      await addDemo(database, store, systemActor, printMessage);
    } catch (error) {
      // Another process is creating the demo or restoring a backup, or has just done so.
      if (!isLockTimeout(error) && (await findDemo(database)).workspaceId === undefined) throw error;
      if (performance.now() > untilMs)
        throw new CommandError(
          'Another process is still creating workspaces, so the demo cannot be added: start again later.',
          { cause: error },
        );
    }
  }
}

async function openSocket(
  database: Database,
  { store }: ServerFiles,
  { config: { dataDir }, findCommand }: Start,
  logger: Logger,
): Promise<CommandSocket | undefined> {
  if (database.engine !== 'embedded') return undefined;
  const socket = await openCommandSocket({ database, dataDir, store, findCommand, logger });
  if (!socket)
    logger.warn('commands cannot run through this server: its data directory cannot have a socket');
  return socket;
}

async function stop({
  server,
  socket,
  database,
  drainMs,
  isReplaced,
}: {
  server: RunningServer;
  socket: CommandSocket | undefined;
  database: Database;
  drainMs: number;
  isReplaced: boolean;
}): Promise<void> {
  setTimeout(() => process.exit(exitCodes.failed), drainMs + stopWithinMs.process).unref();
  const stopped = server.stop({ drainMs, withinMs: stopWithinMs.requests, isReplaced });
  await Promise.all([stopped, socket?.close()]);
  await database.close();
}

function printMessage(text: string): void {
  process.stderr.write(text);
}
