import { existsSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { isatty } from 'node:tty';
import { setTimeout as delay } from 'node:timers/promises';
import { DirectoryHeldError } from '../db/engine/directory-lock.ts';
import type { EmbeddedLocation } from '../db/engine/embedded.ts';
import { type Database, openDatabase } from '../db/engine/engine.ts';
import { migrate, type MigrateOptions, schemaState } from '../db/engine/migrate.ts';
import { openStorage } from '../storage/open-storage.ts';
import { type Config, readConfig } from '../server/config.ts';
import type { DatabaseCommand, Terminal } from './environment.ts';
import { CommandError, exitCodes } from './failures.ts';
import { runThroughServer } from './socket-client.ts';
import { whenDrained } from './when-drained.ts';

type NamedCommand = Pick<DatabaseCommand, 'execute' | 'hasNoTimeout'> & { readonly name: string };

/** How long a command waits while another process holds the directory but accepts no commands: it may be starting. */
const waitForHolderMs = 10_000;
const retryEveryMs = 200;

/** Runs a command on the database that its flags and the environment choose. */
export async function runWithDatabase(command: NamedCommand, args: Record<string, unknown>): Promise<number> {
  const config = readConfig(locationOf(args));
  const interrupted = new AbortController();
  const terminal = ownTerminal(interrupted.signal);
  return whileInterruptible(interrupted, async () => {
    if (config.databaseUrl === undefined) return runEmbedded(command, args, config, terminal);
    const { databaseUrl: url, prepared, wire, dataDir } = config;
    const database = await openDatabase({
      url,
      prepared,
      wire,
      ...(command.hasNoTimeout && { statementTimeoutMs: 0 }),
    });
    return runAndClose(database, async () => {
      await requireCurrentSchema(database);
      return command.execute({ ...terminal, database, dataDir, store: openStorage(config) }, args);
    });
  });
}

/** The settings that the flags of a command with a database contain. */
export function locationOf(args: Record<string, unknown>) {
  const text = (name: string) => (typeof args[name] === 'string' ? args[name] : undefined);
  return { DATA_DIR: text('data-dir'), DATABASE_URL: text('database-url') };
}

/** Opens and migrates the embedded database. Says so if it has to create it, which takes seconds. */
export async function openUpToDate(
  location: EmbeddedLocation,
  say: (text: string) => void,
): Promise<Database> {
  const { dataDir } = location;
  if (!existsSync(join(dataDir, 'database'))) say(`Creating a database in ${dataDir} …\n`);
  const database = await openDatabase(location);
  try {
    if ((await schemaState(database)).state !== 'current') {
      await refuseNewerSchema(database);
      await migrate(database, { report: (line) => say(`${line}\n`) });
    }
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Applies the pending migrations and prints their names. */
export async function migrateLocation(
  config: Config,
  say: (text: string) => void,
  progress?: MigrateOptions['progress'],
): Promise<string[]> {
  const { databaseUrl, dataDir, wire } = config;
  // There is no timeout because creating an index over many rows can take long.
  const location =
    databaseUrl === undefined ? { dataDir, wire } : { url: databaseUrl, wire, statementTimeoutMs: 0 };
  const database = await openDatabase(location);
  try {
    await refuseNewerSchema(database);
    return await migrate(database, { log: (line) => say(`${line}\n`), ...(progress && { progress }) });
  } finally {
    await database.close();
  }
}

/** Throws if an external database is not up to date, because only `migrate` may change it. */
export async function requireCurrentSchema(database: Database): Promise<void> {
  await refuseNewerSchema(database);
  const { state, pending } = await schemaState(database);
  if (state === 'current') return;
  const problem = state === 'empty' ? 'has no tables yet' : `is behind by ${pending.length} migrations`;
  throw new CommandError(`The database ${problem}. Run \`npx workgraph migrate\`.`);
}

async function refuseNewerSchema(database: Database): Promise<void> {
  const { state } = await schemaState(database);
  if (state === 'ahead') {
    throw new CommandError('The database was migrated by a newer version of workgraph. Update workgraph.');
  }
}

/** Runs the command in this process if the data directory is free, otherwise in the server that holds its lock. */
async function runEmbedded(
  command: NamedCommand,
  args: Record<string, unknown>,
  config: Config,
  terminal: Terminal,
): Promise<number> {
  const { dataDir } = config;
  const giveUpMs = performance.now() + waitForHolderMs;
  for (;;) {
    const opened = await openUpToDate({ dataDir }, terminal.stderr).catch((error: unknown) => {
      if (error instanceof DirectoryHeldError) return error;
      throw error;
    });
    if (!(opened instanceof DirectoryHeldError)) {
      const env = { ...terminal, database: opened, dataDir, store: openStorage(config) };
      return runAndClose(opened, () => command.execute(env, args));
    }
    const exitCode = await runThroughServer(dataDir, { command: command.name, args }, terminal);
    if (exitCode !== undefined) return exitCode;
    if (performance.now() > giveUpMs) throw opened;
    await delay(retryEveryMs, undefined, { signal: terminal.signal });
  }
}

async function runAndClose(database: Database, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } finally {
    await database.close();
  }
}

/** Standard error of this process. */
export function ownScreen(): Pick<Terminal, 'stderr' | 'isTerminal' | 'columns'> {
  return {
    stderr: (text) => process.stderr.write(text),
    isTerminal: isatty(2),
    // A terminal that does not know its width says 0.
    columns: process.stderr.columns || 80,
  };
}

function ownTerminal(signal: AbortSignal): Terminal {
  return {
    stdout: (text) => process.stdout.write(text),
    drained: () => whenDrained(process.stdout, signal),
    ...ownScreen(),
    cwd: process.cwd(),
    operator: { name: userName(), host: hostname() },
    signal,
  };
}

/** In some containers the user has no entry in the list of users; then this is the user's number. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** The first signal asks the command to stop, the second ends the process. */
async function whileInterruptible(interrupted: AbortController, run: () => Promise<number>): Promise<number> {
  const interrupt = () => {
    if (interrupted.signal.aborted) process.exit(exitCodes.interrupted);
    interrupted.abort();
  };
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.on(signal, interrupt);
  return run().finally(() => {
    for (const signal of signals) process.off(signal, interrupt);
  });
}
