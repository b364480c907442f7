import { once } from 'node:events';
import { createServer } from 'node:net';
import {
  DataDirectoryHeldError,
  type DataDirectoryLock,
  lockDataDirectory,
} from '../../db/engine/directory-lock.ts';
import { type Config, readConfig, type Settings } from '../../server/config.ts';
import { isWorker } from '../../server/process-environment.ts';
import type { TrustedDocuments } from '../../executor/documents/persisted.ts';
import type { DatabaseCommand } from '../environment.ts';
import { CommandError, exitCodes } from '../failures.ts';
import { whenParentIsGone } from './parent.ts';
import { Predecessor } from './predecessor.ts';
import { numberOfWorkers, shareOf } from '../../server/workers/shares.ts';
import type { StopReason, WorkerLink } from '../../server/workers/worker-link.ts';

export interface StartOptions {
  readonly settings: Settings;
  /** Both flags allow changes of an external database, which is not changed otherwise. */
  readonly migrate: boolean | undefined;
  /** False leaves a new embedded database empty. */
  readonly demo: boolean | undefined;
  readonly findCommand: (name: string) => Promise<DatabaseCommand | undefined>;
}

/** The options of a server, once the settings, the ports and the data directory have been checked. */
export interface Start extends Omit<StartOptions, 'settings'> {
  readonly config: Config;
  readonly documents: TrustedDocuments | undefined;
  /** The lock of the data directory of an embedded database. */
  readonly lock: DataDirectoryLock | undefined;
  /** Resolves with the reason to stop: a signal, the end of the shell in which npm started the server, or a message from the supervisor. */
  readonly stopped: Promise<NodeJS.Signals | 'parent gone' | StopReason>;
  /** The supervisor of this process, if it is one of several workers. */
  readonly link?: WorkerLink | undefined;
}

/**
 * Runs the server until a signal, its parent or its supervisor stops it, and returns the exit code. Settings, ports and the data directory are
 * checked first, so that a mistake is reported before anything is created and before the rest of the program is loaded,
 * which takes most of the time of a start.
 */
export async function start({ settings, ...options }: StartOptions): Promise<number> {
  const config = readConfig(settings);
  if (isWorker()) return startWorker(config, options);
  const workers = numberOfWorkers(config);
  if (workers > 1) {
    const stopped = untilStopped();
    await claimResources(config);
    const { supervise } = await import('./run-supervisor.ts');
    return supervise({ config, workers, stopped });
  }
  const documents = await documentsOf(config);
  const stopped = untilStopped();
  const lock = await claimResources(config);
  void stopped.then(() => lock?.announceRelease());
  const { serve } = await import('./run-server.ts');
  return serve({ ...options, config, documents, lock, stopped });
}

/** Runs one of several workers. The supervisor has checked the ports. */
async function startWorker(config: Config, options: Omit<StartOptions, 'settings'>): Promise<number> {
  const { WorkerLink } = await import('../../server/workers/worker-link.ts');
  const link = await WorkerLink.open(process);
  const documents = await documentsOf(config);
  const { serve } = await import('./run-server.ts');
  const { workers, port, isFirst } = link.start;
  const workerConfig = { ...shareOf(config, workers), port };
  // Only the first worker acts on --migrate and --demo, before the others start.
  const flags = isFirst ? options : { ...options, migrate: undefined, demo: undefined };
  return serve({ ...flags, config: workerConfig, documents, lock: undefined, stopped: link.stopped, link });
}

/** Checks that the ports are free, and locks the data directory of an embedded database. */
async function claimResources(config: Config): Promise<DataDirectoryLock | undefined> {
  const { metricsAddress, databaseUrl, dataDir } = config;
  const predecessor = new Predecessor((text) => process.stderr.write(text));
  const isStopping = async () => (await import('../../server/stopping.ts')).isStoppingAt(config);
  await predecessor.wait(() => requireFreePort(config), isStopping);
  if (metricsAddress)
    await predecessor.wait(() => requireFreePort(metricsAddress, '--metrics-address'), isStopping);
  if (databaseUrl !== undefined) return undefined;
  return predecessor.wait(
    () => lockDataDirectory(dataDir),
    (error) => error instanceof DataDirectoryHeldError && error.isStopping,
  );
}

async function documentsOf(config: Config): Promise<TrustedDocuments | undefined> {
  if (config.documentsFile === undefined) return undefined;
  const { openDocuments } = await import('../../server/graphql/open-documents.ts');
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
  EADDRINUSE: 'another process is using it',
  EACCES: 'this user does not have permission',
  EADDRNOTAVAIL: 'this machine does not have the address',
  ENOTFOUND: 'the host is not known',
};

/** A second signal this soon is the same one: the terminal sends it to the server, and npm forwards it once more. */
const sameSignalMs = 500;

/** Resolves with the first reason to stop. A second signal ends the process at once. */
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
