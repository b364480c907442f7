import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ExecutionResult } from 'graphql';
import { sql } from 'kysely';
import type { App, Sent } from './app.ts';

/** Another server process on the database of an app. */
export interface SecondServer extends Pick<App, 'graphql' | 'url'> {
  stop(): Promise<void>;
  /** Kills the process with SIGKILL. */
  kill(): Promise<void>;
}

/** Starts a second server. Returns undefined on the embedded engine, whose database belongs to one process. */
export async function startSecondServer({ database }: App): Promise<SecondServer | undefined> {
  const serverUrl = process.env.TEST_DATABASE_URL;
  if (database.engine === 'embedded' || !serverUrl) return undefined;
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(database.unscoped);
  const databaseUrl = new URL(serverUrl);
  databaseUrl.pathname = `/${rows[0]?.name}`;
  const script = join(import.meta.dirname, 'second-server-process.ts');
  const child = spawn(process.execPath, [script, databaseUrl.href], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
  return {
    url,
    kill: async () => {
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
    graphql: async <Data>(
      query: string,
      variables: Record<string, unknown> = {},
      { token, headers = {} }: Sent = {},
    ) => {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify({ query, variables }),
      });
      const body = (await response.json()) as ExecutionResult<Data>;
      return { status: response.status, headers: response.headers, body, statements: Number.NaN };
    },
    stop: async () => {
      const exit = once(child, 'exit');
      // The process exits when its standard input closes, so it ends even if the test is killed.
      child.stdin.end();
      await exit;
    },
  };
}
