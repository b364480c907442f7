import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { App, TestWorkspace } from './app.ts';
import { httpClient } from './http-client.ts';
import { isAlive } from './processes.ts';

/** A server with the demo workspace for read-only suites. `stop` fails if the log contains a secret. */
export type SharedApp = Pick<App, 'url' | 'graphql' | 'request' | 'stop' | keyof TestWorkspace> & {
  tokenFor(holder?: Holder): Promise<string>;
};
type Holder = Omit<Parameters<App['tokenFor']>[0] & object, 'expiresUtc'>;

/** The questions that the process of a shared server answers over HTTP, at `control`. */
export interface Answers {
  tokenFor(holder: Holder): Promise<string>;
  /** The fixture workspace of test/graph, which is created on the first request, with its current rows. */
  world(holder: object): Promise<{ nowMs: number; workspace: TestWorkspace; rows: string }>;
  checkLog(holder: object): Promise<null>;
  stop(holder?: object): Promise<null>;
}
export type Question = keyof Answers;

/** The description that the process writes to its file once it is ready. */
export interface ServerInfo extends TestWorkspace {
  readonly url: string;
  readonly control: string;
}

type Ask = <Key extends Question>(
  question: Key,
  argument?: Parameters<Answers[Key]>[0],
) => Promise<Awaited<ReturnType<Answers[Key]>>>;

const script = join(import.meta.dirname, 'shared-app-process.ts');

/**
 * Makes the suites of the run share a server. `npm run mutants` does not do this: it switches a guard off
 * for one test file, and a server that outlives the file would keep the wrong guards switched off.
 */
export function allowSharing(): void {
  process.env.WORKGRAPH_TEST_SHARED = mkdtempSync(join(tmpdir(), 'workgraph-shared-'));
  process.env.WORKGRAPH_TEST_PID = String(process.pid);
}

/** Whether suites share a server in this run. */
export const isSharing = process.env.WORKGRAPH_TEST_SHARED !== undefined;

/** Returns the demo on the shared server, or on a new server if suites do not share. */
export async function sharedApp(): Promise<SharedApp> {
  if (!isSharing) {
    const { startApp } = await import('./app.ts');
    return startApp({ demo: true });
  }
  const { info, ask } = await sharedServer();
  return {
    ...info,
    ...httpClient(info.url, info.token),
    tokenFor: (holder = {}) => ask('tokenFor', holder),
    stop: async () => void (await ask('checkLog')),
  };
}

/** Returns the server that the suites of all workers share. The first of them starts it. */
export async function sharedServer(): Promise<{ info: ServerInfo; ask: Ask }> {
  const { WORKGRAPH_TEST_SHARED: folder = '', WORKGRAPH_TEST_PID: run = '' } = process.env;
  const file = infoFileIn(folder);
  let child: ChildProcess | undefined;
  for (let attempt = 0; !existsSync(file); ) {
    // The claim contains a process id: first that of the worker, then that of the server process that it has started.
    const claim = `${file}.starting-${attempt}`;
    if (!child && isFirst(claim)) {
      child = startProcess(file, run);
      writeFileSync(claim, String(child.pid));
    }
    if (child && (child.exitCode ?? child.signalCode) !== null) {
      throw new Error(`The shared server did not start: ${readFileSync(`${file}.log`, 'utf8')}`);
    }
    // If that process has ended, the workers that wait for it and later suites try again, and report the failure as well.
    if (!child && !isAlive(Number(readFileSync(claim, 'utf8')))) attempt += 1;
    else await delay(20);
  }
  const info = JSON.parse(readFileSync(file, 'utf8')) as ServerInfo;
  return { info, ask: askVia(info.control) };
}

function infoFileIn(folder: string): string {
  return join(folder, 'server.json');
}

/** Creates the file, with the id of this process, unless another worker has created it. */
function isFirst(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function startProcess(file: string, run: string): ChildProcess {
  const log = openSync(`${file}.log`, 'a');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, file, run], {
    // The server must outlive a worker that jest replaces.
    detached: true,
    stdio: ['ignore', log, log],
    env: process.env,
  });
  child.unref();
  return child;
}

/** Stops the shared server of the run, if there is one, and throws if it has failed. */
export async function stopSharedServer(folder: string): Promise<void> {
  const file = infoFileIn(folder);
  if (!existsSync(file)) return;
  const { control } = JSON.parse(readFileSync(file, 'utf8')) as ServerInfo;
  await askVia(control)('stop');
}

function askVia(control: string): Ask {
  return async (question, argument = {}) => {
    const response = await fetch(control, { method: 'POST', body: JSON.stringify({ question, argument }) });
    const { answer, error } = (await response.json()) as { answer: never; error?: string };
    if (error !== undefined) throw new Error(`The shared server: ${error}`);
    return answer;
  };
}
