import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { hasServer, urlOf } from '../db/engines.ts';
import type { App } from './app.ts';
import { httpClient } from './http-client.ts';

/** A server in a process of its own. */
export interface StartedServer {
  url: string;
  /** The exit code and the signal of the process. */
  exit: Promise<[code: number | null, signal: NodeJS.Signals | null]>;
  stop(): Promise<void>;
  /** Kills the process with SIGKILL. */
  kill(): Promise<void>;
}

/** Starts a server on the database at a location, a directory or a URL. */
export async function startServerProcess(
  location: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<StartedServer> {
  const script = join(import.meta.dirname, 'server-process.ts');
  const child = spawn(process.execPath, [script, location, JSON.stringify(settings)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit') as StartedServer['exit'];
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
  return {
    url,
    exit,
    stop: async () => {
      // The process exits when its standard input closes, so it ends even if the test is killed.
      child.stdin.end();
      await exit;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

/** Another server on the database of an app. */
export type SecondServer = StartedServer & Pick<App, 'graphql' | 'request'>;

/** Starts a second server. Returns undefined on the embedded engine, whose database belongs to one process. */
export async function startSecondServer({
  database,
  token,
}: Pick<App, 'database' | 'token'>): Promise<SecondServer | undefined> {
  if (!hasServer || database.engine === 'embedded') return undefined;
  const started = await startServerProcess(await urlOf(database));
  return { ...started, ...httpClient(started.url, token) };
}
