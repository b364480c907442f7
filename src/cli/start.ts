import { once } from 'node:events';
import { createServer } from 'node:net';
import { DirectoryHeldError, type DirectoryLock, lockDirectory } from '../db/engine/directory-lock.ts';
import { type Config, readConfig, type Settings } from '../server/config.ts';
import type { TrustedDocuments } from '../executor/persisted-documents.ts';
import type { DatabaseCommand } from './environment.ts';
import { CommandError, exitCodes } from './failures.ts';
import { whenParentIsGone } from './parent.ts';
import { Predecessor } from './predecessor.ts';

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
  /** What ends it: a signal, or the end of the shell in which npm started it. */
  readonly stopped: Promise<NodeJS.Signals | 'parent gone'>;
}

/**
 * Serves until it is told to end, and gives the exit code. What must fail fails at once, before anything is made, and
 * before the rest of the program is loaded, which takes most of a start.
 */
export async function start({ settings, ...options }: StartOptions): Promise<number> {
  const config = readConfig(settings);
  const documents = await documentsOf(config);
  const stopped = untilStopped();
  const lock = await takePlace(config);
  void stopped.then(() => lock?.announceRelease());
  const { serve } = await import('./run-server.ts');
  return serve({ ...options, config, documents, lock, stopped });
}

/** Makes sure of the ports, and locks the data directory of an embedded database. */
async function takePlace(config: Config): Promise<DirectoryLock | undefined> {
  const { metricsAddress, databaseUrl, dataDir } = config;
  const predecessor = new Predecessor((text) => process.stderr.write(text));
  const isStopping = async () => (await import('../server/stopping.ts')).isStoppingAt(config);
  await predecessor.wait(() => requireFreePort(config), isStopping);
  if (metricsAddress)
    await predecessor.wait(() => requireFreePort(metricsAddress, '--metrics-address'), isStopping);
  if (databaseUrl !== undefined) return undefined;
  return predecessor.wait(
    () => lockDirectory(dataDir),
    (error) => error instanceof DirectoryHeldError && error.isStopping,
  );
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

/** A signal that comes so soon after the first is the same one, which npm forwards to who has got it from the terminal. */
const sameSignalMs = 500;

/** What ends the server first; a second signal does not wait for anything. */
function untilStopped(): Start['stopped'] {
  return new Promise((resolve) => {
    let firstMs: number | undefined;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        const nowMs = performance.now();
        firstMs ??= nowMs;
        if (nowMs - firstMs > sameSignalMs) process.exit(exitCodes.interrupted);
        resolve(signal);
      });
    }
    whenParentIsGone(() => resolve('parent gone'));
  });
}
