import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { hasServer, urlOf } from '../db/engines.ts';
import type { App } from './app.ts';
import { httpClient } from './http-client.ts';

/** A server in a process of its own, which is killed when its variable goes out of scope (`await using`). */
export interface ServerProcess extends AsyncDisposable {
  url: string;
  /** The exit code and the signal of the process. */
  exit: Promise<[code: number | null, signal: NodeJS.Signals | null]>;
  stop(): Promise<void>;
  /** Kills the process with SIGKILL. */
  kill(): Promise<void>;
}

/** Starts a server on the database at a location, a directory or a URL. Throws if it ends before it listens. */
export async function startServerProcess(
  location: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const script = join(import.meta.dirname, 'server-process.ts');
  const child = spawn(process.execPath, [script, location, JSON.stringify(settings)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit') as ServerProcess['exit'];
  const failure = exit.then(([code, signal]) => {
    throw new Error(`The server has ended with ${code ?? signal}.`);
  });
  failure.catch(() => undefined);
  const kill = async () => {
    child.kill('SIGKILL');
    await exit;
  };
  const [url] = (await Promise.race([once(createInterface(child.stdout), 'line'), failure])) as [string];
  return {
    url,
    exit,
    stop: async () => {
      // The process exits when its standard input closes, so it ends even if the test is killed.
      child.stdin.end();
      await exit;
    },
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

/** Another server on the database of an app. */
export type SecondServer = ServerProcess & Pick<App, 'graphql' | 'request'>;

/** Starts a second server. Returns undefined on the embedded engine, whose database belongs to one process. */
export async function startSecondServer({
  database,
  token,
}: Pick<App, 'database' | 'token'>): Promise<SecondServer | undefined> {
  if (!hasServer || database.engine === 'embedded') return undefined;
  const server = await startServerProcess(await urlOf(database));
  return { ...server, ...httpClient(server.url, token) };
}
