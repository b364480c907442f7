import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { type ArgsDef, parseArgs } from 'citty';
import { findDatabaseCommand } from '../../src/cli/commands.ts';
import type { CommandEnvironment } from '../../src/cli/environment.ts';
import { reportFailure } from '../../src/cli/failures.ts';
import type { App } from '../support/app.ts';
import { type Ran, runCommand } from './run-command.ts';

/** A server in a separate process. */
export interface Serving {
  url: string;
  child: ChildProcess;
  /** All messages so far. */
  messages: () => string;
  /** All log lines so far. */
  log: () => string;
  /** Sends a signal and returns the exit code. */
  end: (signal?: NodeJS.Signals) => Promise<number>;
}

const script = join(import.meta.dirname, '../../bin/workgraph.js');
const prover = pathToFileURL(join(import.meta.dirname, '../support/tenant-prover/install-with-kysely.ts'));

/** The options of Node with which the statements of a process are proved. */
export const provedOptions: readonly string[] = ['--import', prover.href];

/** Runs `workgraph` to its end, with these variables besides those of any program. */
export async function workgraph(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const child = start(args, env);
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number]>,
  ]);
  return { exitCode, stdout, stderr };
}

/** Starts `workgraph serve` on a free port, and waits until it says that it is ready. */
export async function serve(args: readonly string[], env: Record<string, string> = {}): Promise<Serving> {
  const child = start(['serve', '--port', '0', ...args], env);
  let [messages, log] = ['', ''];
  child.stdout.on('data', (chunk) => (log += String(chunk)));
  const ready = new Promise<string>((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      messages += String(chunk);
      const url = /workgraph is ready at (\S+)\n[\s\S]*\n\n$/.exec(messages)?.[1];
      if (url) resolve(url);
    });
    child.on('close', () => reject(new Error(`The server ended before it was ready: ${messages}`)));
  });
  const ended = once(child, 'close') as Promise<[number]>;
  return {
    url: await ready,
    child,
    messages: () => messages,
    log: () => log,
    end: async (signal = 'SIGTERM') => {
      child.kill(signal);
      const [exitCode] = await ended;
      if (/wg_[0-9a-f]{48}/.test(log)) throw new Error('The log of the server holds a token.');
      return exitCode;
    },
  };
}

/** Starts `workgraph serve` in a pseudo-terminal, stops it once it is ready and `use` is done, and returns its output. */
export async function serveInTerminal(
  args: readonly string[],
  use: (url: string, shown: (words: RegExp) => Promise<string>) => Promise<void> = () => Promise.resolve(),
): Promise<string> {
  const ran = await inTerminal(['serve', '--port', '0', ...args], async (shown) => {
    await use(await shown(/ready at (\S+)\r?\n[\s\S]*(?:REST +curl|A token +npx) [^\n]*\n/), shown);
  });
  return ran.output;
}

/**
 * Runs `workgraph` in a pseudo-terminal. `use` may wait for what is shown, of which it gets the first group; then Ctrl+C is
 * pressed.
 */
export async function inTerminal(
  args: readonly string[],
  use: (shown: (words: RegExp) => Promise<string>) => Promise<void>,
): Promise<{ exitCode: number; output: string }> {
  const command = [process.execPath, script, ...args].map((word) => `'${word}'`);
  const { NO_COLOR: _, ...env } = environment({ TERM: 'xterm' });
  const child = spawn('script', ['--quiet', '--return', '--command', command.join(' '), '/dev/null'], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  const ended = once(child, 'close') as Promise<[number]>;
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const shown = async (words: RegExp) => {
    for (;;) {
      const found = words.exec(output);
      if (found) return found[1] ?? '';
      const next = await Promise.race([once(child.stdout, 'data'), ended.then(() => undefined)]);
      if (!next && !words.test(output)) throw new Error(`The program ended without ${words}: ${output}`);
    }
  };
  await use(shown);
  // A program that has ended by itself does not read what is typed.
  child.stdin.on('error', () => undefined);
  child.stdin.write('\x03');
  const [exitCode] = await ended;
  return { exitCode, output };
}

/** Runs a command on an app's database without a process of its own; `name` is as a person types it. */
export async function inProcess(
  app: Pick<App, 'database' | 'dataDir' | 'store'>,
  name: string,
  words: readonly string[],
  signal = new AbortController().signal,
): Promise<Ran> {
  const command = await findDatabaseCommand(name);
  if (!command) throw new Error(`There is no command ${name}.`);
  const execute = (env: CommandEnvironment) =>
    reportFailure(() => command.execute(env, parseArgs([...words], command.args as ArgsDef)), env.stderr);
  return runCommand(app, execute, { signal });
}

function start(args: readonly string[], env: Record<string, string>) {
  return spawn(process.execPath, [...provedOptions, script, ...args], {
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function environment(env: Record<string, string>): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR = '' } = process.env;
  // These three let the process report its fallbacks to the test.
  const { NODE_OPTIONS = '', WORKGRAPH_TEST_FALLBACKS = '', JEST_WORKER_ID = '' } = process.env;
  const watch = { NODE_OPTIONS, WORKGRAPH_TEST_FALLBACKS, JEST_WORKER_ID };
  const { NODE_COMPILE_CACHE = '', WIRE = '' } = process.env;
  const run = { ...(TMPDIR && { TMPDIR }), NODE_COMPILE_CACHE, NO_COLOR: '1', WIRE };
  return { PATH, HOME, ...run, ...watch, ...env };
}
