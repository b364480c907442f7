import { once } from 'node:events';
import { createServer } from 'node:net';
import { type DirectoryLock, lockDirectory } from '../db/engine/directory-lock.ts';
import { type Config, readConfig, type Settings } from '../server/config.ts';
import type { TrustedDocuments } from '../executor/persisted-documents.ts';
import type { DatabaseCommand } from './environment.ts';
import { CommandError, exitCodes } from './failures.ts';

export interface StartOptions {
  readonly settings: Settings;
  /** Both about an external database, which is changed only when told; `demo: false` about the embedded one. */
  readonly migrate: boolean | undefined;
  readonly demo: boolean | undefined;
  readonly findCommand: (name: string) => Promise<DatabaseCommand | undefined>;
}

/** A start that nothing stands against as far as can be seen. */
export interface Start extends Omit<StartOptions, 'settings'> {
  readonly config: Config;
  readonly documents: TrustedDocuments | undefined;
  /** Of the embedded database's directory. */
  readonly lock: DirectoryLock | undefined;
  /** The signal that ends it. */
  readonly stopped: Promise<NodeJS.Signals>;
}

/**
 * Serves until a signal ends it, and gives the exit code. What must fail fails at once, before anything is made, and
 * before the rest of the program is loaded, which takes most of a start.
 */
export async function start({ settings, ...options }: StartOptions): Promise<number> {
  const config = readConfig(settings);
  const documents = await documentsOf(config);
  const stopped = untilSignal();
  await requireFreePort(config);
  if (config.metricsAddress) await requireFreePort(config.metricsAddress, '--metrics-address');
  const lock = config.databaseUrl === undefined ? lockDirectory(config.dataDir) : undefined;
  const { serve } = await import('./run-server.ts');
  return serve({ ...options, config, documents, lock, stopped });
}

async function documentsOf(config: Config): Promise<TrustedDocuments | undefined> {
  if (config.documentsFile === undefined) return undefined;
  const { openDocuments } = await import('../server/graphql/open-documents.ts');
  return openDocuments(config);
}

async function requireFreePort(
  { host, port }: Pick<Config, 'host' | 'port'>,
  flags = '--port or --host',
): Promise<void> {
  const probe = createServer();
  try {
    probe.listen(port, host);
    await once(probe, 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const problem = portProblems[code ?? ''] ?? message;
    throw new CommandError(`Cannot listen on ${host}:${port}: ${problem}. Choose another with ${flags}.`);
  }
  probe.close();
  await once(probe, 'close');
}

const portProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something else listens there',
  EACCES: 'this user may not',
  EADDRNOTAVAIL: 'this machine does not have the address',
  ENOTFOUND: 'the host is not known',
};

/** The first signal; the second does not wait for anything. */
function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let first = true;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (!first) process.exit(exitCodes.interrupted);
        first = false;
        resolve(signal);
      });
    }
  });
}
