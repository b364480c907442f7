import { hostname, userInfo } from 'node:os';
import { isatty } from 'node:tty';
import { setTimeout as delay } from 'node:timers/promises';
import {
  DataDirectoryHeldError,
  type DataDirectoryLock,
  ForeignDataDirectoryError,
  lockDataDirectory,
} from '../../db/engine/directory-lock.ts';
import type { Config, Settings } from '../../server/config.ts';
import { readSettings, soleDataDir } from '../../server/process-environment.ts';
import type { DatabaseCommand, Terminal } from '../environment.ts';
import { CommandError, exitCodes, UsageError } from '../failures.ts';
import { runThroughServer } from './socket-client.ts';
import { whenDrained } from '../serve/when-drained.ts';

type NamedCommand = Pick<DatabaseCommand, 'execute' | 'hasNoTimeout'> & { readonly name: string };

/** How long a command waits while another process holds the directory but accepts no commands: it may be starting. */
const waitForHolderMs = 10_000;
const retryEveryMs = 200;

/** Runs a command on the database that its flags and the environment choose. */
export async function runWithDatabase(command: NamedCommand, args: Record<string, unknown>): Promise<number> {
  const settings = locationOf(args);
  const location = await readLocation(settings);
  const interrupted = new AbortController();
  const terminal = terminalOfProcess(interrupted.signal);
  return whileInterruptible(interrupted, async () => {
    if (location.databaseUrl === undefined)
      return runEmbedded(command, args, { ...location, settings, terminal });
    const { runHere } = await import('./run-here.ts');
    return runHere(command, args, { settings, terminal });
  });
}

/** Where the database is. Throws ConfigError. */
async function readLocation(settings: Settings): Promise<Pick<Config, 'dataDir' | 'databaseUrl'>> {
  const dataDir = soleDataDir(settings);
  if (dataDir !== undefined) return { dataDir, databaseUrl: undefined };
  // Loaded only now, because loading the checks takes longer than all that the client of a server does.
  const { readConfig } = await import('../../server/config.ts');
  return readConfig(settings);
}

/**
 * The settings that the flags of a command with a database contain. Throws UsageError if the directory that they name seems to be
 * the database, but the environment chooses PostgreSQL.
 */
export function locationOf(args: Record<string, unknown>): Settings {
  const text = (name: string) => (typeof args[name] === 'string' ? args[name] : undefined);
  const flags = { DATA_DIR: text('data-dir'), DATABASE_URL: text('database-url') };
  if (flags.DATA_DIR && !flags.DATABASE_URL && readSettings({}).DATABASE_URL !== undefined) {
    throw new UsageError(
      'DATABASE_URL is set, so --data-dir would not choose the database. Put `DATABASE_URL=` before the command to use the one in that directory, or add --database-url to use PostgreSQL.',
    );
  }
  return flags;
}

/** Runs the command in this process if the data directory is free and its own, otherwise in the server that holds its lock. */
async function runEmbedded(
  command: NamedCommand,
  args: Record<string, unknown>,
  { dataDir, settings, terminal }: { dataDir: string; settings: Settings; terminal: Terminal },
): Promise<number> {
  const deadlineMs = performance.now() + waitForHolderMs;
  for (;;) {
    const lock = lockOrError(dataDir);
    if (!(lock instanceof Error)) {
      // Loaded only with the lock, because loading the engine takes longer than all that the client of a server does.
      const { runHere } = await import('./run-here.ts');
      return runHere(command, args, { settings, terminal, lock });
    }
    const exitCode = await runThroughServer(dataDir, { command: command.name, args }, terminal);
    if (exitCode !== undefined) return exitCode;
    if (lock instanceof ForeignDataDirectoryError) throw lock;
    if (performance.now() > deadlineMs)
      throw new CommandError(
        `${lock.message} It accepts no commands yet: if it is a server that is starting, try again in a moment.`,
        { cause: lock },
      );
    await delay(retryEveryMs, undefined, { signal: terminal.signal });
  }
}

function lockOrError(
  dataDir: string,
): DataDirectoryLock | DataDirectoryHeldError | ForeignDataDirectoryError {
  try {
    return lockDataDirectory(dataDir);
  } catch (error) {
    if (error instanceof DataDirectoryHeldError || error instanceof ForeignDataDirectoryError) return error;
    throw error;
  }
}

/** Standard error of this process. */
export function screenOfProcess(): Pick<Terminal, 'stderr' | 'isTty' | 'columns'> {
  return {
    stderr: (text) => process.stderr.write(text),
    isTty: isatty(2),
    // The width is 0 if the terminal does not know it.
    columns: process.stderr.columns || 80,
  };
}

function terminalOfProcess(signal: AbortSignal): Terminal {
  return {
    stdout: (text) => process.stdout.write(text),
    drained: () => whenDrained(process.stdout, signal),
    ...screenOfProcess(),
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
