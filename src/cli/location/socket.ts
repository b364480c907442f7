import { rmSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Logger } from 'pino';
import type { Database } from '../../db/engine/engine.ts';
import type { FileStore } from '../../storage/storage.ts';
import type { CommandEnvironment, DatabaseCommand } from '../environment.ts';
import { exitCodes, reportFailure } from '../failures.ts';
import { type CommandLine, interruptPath, socketPathOf } from './socket-protocol.ts';
import { commandRequest } from './socket-request.ts';
import { whenDrained } from '../serve/when-drained.ts';

export interface CommandSocketOptions {
  readonly database: Database;
  readonly dataDir: string;
  readonly store: FileStore;
  readonly findCommand: (name: string) => Promise<DatabaseCommand | undefined>;
  readonly logger: Logger;
}

/** Runs commands for clients of the socket. Only the owner of the data directory can open it. */
export interface CommandSocket {
  /** Asks the running commands to stop, and waits for them. */
  close(): Promise<void>;
}

/** Listens in the data directory, whose lock this process holds. Returns undefined where there can be no socket. */
export async function openCommandSocket(options: CommandSocketOptions): Promise<CommandSocket | undefined> {
  const path = socketPathOf(options.dataDir);
  if (path === undefined) return undefined;
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  const interruptions = new Map<string, AbortController>();
  const server = createServer((req, res) => {
    const answered =
      req.url === interruptPath
        ? interrupt(req, res, interruptions)
        : runCommand(req, res, options, { stopping: stopping.signal, interruptions });
    const run = answered.finally(() => running.delete(run));
    running.add(run);
  });
  // A killed process may have left its socket behind. Nothing uses it, since this process holds the directory's lock.
  rmSync(path, { force: true });
  const umask = process.umask(0o177);
  try {
    // `listen` creates the socket before it returns, so the socket never exists with another mode.
    server.listen(path);
  } finally {
    process.umask(umask);
  }
  await once(server, 'listening');
  return {
    close: async () => {
      server.close();
      stopping.abort();
      await Promise.all(running);
      server.closeAllConnections();
    },
  };
}

/** Interrupts the run whose id is the body of the request. */
async function interrupt(
  req: IncomingMessage,
  res: ServerResponse,
  interruptions: ReadonlyMap<string, AbortController>,
): Promise<void> {
  interruptions.get(await text(req))?.abort();
  res.writeHead(204).end();
}

async function runCommand(
  req: IncomingMessage,
  res: ServerResponse,
  { database, dataDir, store, findCommand, logger }: CommandSocketOptions,
  { stopping, interruptions }: { stopping: AbortSignal; interruptions: Map<string, AbortController> },
): Promise<void> {
  const write = (line: CommandLine) => void res.write(`${JSON.stringify(line)}\n`);
  const stderr = (err: string) => write({ err });
  const exit = await reportFailure(async () => {
    const {
      id,
      command: name,
      args,
      isTerminal: isTty,
      ...terminal
    } = commandRequest.parse(JSON.parse(await text(req)));
    const command = await findCommand(name);
    if (!command) {
      stderr(`The running server does not know the command \`${name}\`; it has another version.\n`);
      return exitCodes.failed;
    }
    logger.info({ command: name }, `command ${name}`);
    const interrupted = new AbortController();
    interruptions.set(id, interrupted);
    res.on('close', () => {
      interruptions.delete(id);
      interrupted.abort();
    });
    const signal = AbortSignal.any([interrupted.signal, stopping]);
    const env: CommandEnvironment = {
      ...terminal,
      isTty,
      database,
      dataDir,
      store,
      signal,
      stderr,
      stdout: (out) => write({ out }),
      drained: () => whenDrained(res, signal),
    };
    return command.execute(env, args);
  }, stderr);
  res.end(`${JSON.stringify({ exit } satisfies CommandLine)}\n`);
}
