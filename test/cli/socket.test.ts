import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { pino } from 'pino';
import type { CommandEnvironment, Terminal } from '../../src/cli/environment.ts';
import { UsageError } from '../../src/cli/failures.ts';
import { type CommandSocket, openCommandSocket } from '../../src/cli/location/socket.ts';
import { runThroughServer } from '../../src/cli/location/socket-client.ts';
import { socketPathOf } from '../../src/cli/location/socket-protocol.ts';
import type { Database } from '../../src/db/engine/engine.ts';
import type { FileStore } from '../../src/storage/storage.ts';

let dataDir: string;
let socket: CommandSocket | undefined;
/** What the command does that the server runs. */
let execute: (env: CommandEnvironment, args: Record<string, unknown>) => Promise<number>;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'workgraph-socket-'));
  socket = await openCommandSocket({
    database: {} as Database,
    dataDir,
    store: {} as FileStore,
    findCommand: (name) =>
      Promise.resolve(
        name === 'test run' ? { execute: (env, args) => execute(env, args), hasNoTimeout: false } : undefined,
      ),
    logger: pino({ level: 'silent' }),
  });
});
afterEach(async () => {
  await socket?.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Runs the command as a client does; `output` has both streams in order. */
async function run(args: Record<string, unknown> = {}, signal = new AbortController().signal) {
  const output: string[] = [];
  const terminal: Terminal = {
    stdout: (text) => void output.push(`out ${text}`),
    drained: () => Promise.resolve(),
    stderr: (text) => void output.push(`err ${text}`),
    isTty: true,
    operator: { name: 'tester', host: 'here' },
    columns: 33,
    cwd: '/elsewhere',
    signal,
  };
  const exitCode = await runThroughServer(dataDir, { command: 'test run', args }, terminal);
  return { exitCode, output };
}

it('the socket passes arguments and terminal to the server, and data, messages and exit code back in order', async () => {
  let terminal: unknown;
  execute = async ({ stdout, stderr, isTty, columns, cwd, operator }, args) => {
    terminal = { isTty, columns, cwd, operator, args };
    stdout('one\ntwo');
    await delay(20);
    stderr('Straße \u2028 "three"');
    stdout('four');
    return 7;
  };
  const { exitCode, output } = await run({ name: 'x', json: true, _: ['y'] });
  expect(terminal).toEqual({
    isTty: true,
    columns: 33,
    cwd: '/elsewhere',
    operator: { name: 'tester', host: 'here' },
    args: { name: 'x', json: true, _: ['y'] },
  });
  expect(output).toEqual(['out one\ntwo', 'err Straße \u2028 "three"', 'out four']);
  expect(exitCode).toBe(7);
});

it('the socket does not buffer data for a client that reads slowly', async () => {
  const chunk = 'x'.repeat(64 * 1024);
  let [put, ahead] = [0, 0];
  execute = async ({ stdout, drained }) => {
    for (; put < 400; put += 1) {
      stdout(chunk);
      await drained();
    }
    return 0;
  };
  let got = 0;
  const terminal: Terminal = {
    stdout: () => void (got += 1),
    // Looks how far the command has come in many turns before it lets the next one in.
    drained: async () => {
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      ahead = Math.max(ahead, put - got);
    },
    stderr: () => undefined,
    isTty: false,
    operator: { name: 'tester', host: 'here' },
    columns: 80,
    cwd: '/elsewhere',
    signal: new AbortController().signal,
  };
  expect(await runThroughServer(dataDir, { command: 'test run', args: {} }, terminal)).toBe(0);
  expect(got).toBe(400);
  // What the socket and the streams at its ends hold; without a wait it would be nearly all.
  expect(ahead).toBeLessThan(40);
});

it('the socket reports failures like the command without a server', async () => {
  execute = () => Promise.reject(new UsageError('Not like that.'));
  expect(await run()).toEqual({ exitCode: 2, output: ['err Not like that.\n'] });
});

it('the client of the socket fails at a line that no server sends', async () => {
  await socket?.close();
  const stranger = createServer((_, res) => res.end('{"out":1}\n')).listen(socketPathOf(dataDir));
  await once(stranger, 'listening');
  try {
    await expect(run()).rejects.toThrow('{"out":1}');
  } finally {
    stranger.close();
  }
});

it.each(['before', 'after'])(
  'the client of the socket says that the server stopped, %s the first line of the answer',
  async (when) => {
    await socket?.close();
    const dying = createServer((request, response) => {
      if (when === 'after') response.write('{"err":"Begun."}\n', () => request.destroy());
      else request.destroy();
    }).listen(socketPathOf(dataDir));
    await once(dying, 'listening');
    try {
      await expect(run()).rejects.toThrow(
        'The server stopped before the command was finished. Its log may say why.',
      );
    } finally {
      dying.close();
    }
  },
);

it('the socket passes an interruption on, and the command says what it has done', async () => {
  const person = new AbortController();
  execute = ({ signal, stderr }) =>
    new Promise((end) => {
      signal.addEventListener('abort', () => {
        stderr('half is done');
        end(130);
      });
      person.abort();
    });
  expect(await run({}, person.signal)).toEqual({ exitCode: 130, output: ['err half is done'] });
});

it('the socket aborts the command when its client dies', async () => {
  const sent = request({ socketPath: socketPathOf(dataDir), method: 'POST', path: '/commands' });
  const aborted = new Promise<void>((resolve) => {
    execute = ({ signal }) =>
      new Promise((end) => {
        signal.addEventListener('abort', () => {
          resolve();
          end(130);
        });
        sent.destroy();
      });
  });
  sent.on('error', () => undefined);
  sent.end(JSON.stringify({ command: 'test run', args: {}, isTerminal: true, columns: 80, cwd: '/' }));
  await expect(aborted).resolves.toBeUndefined();
});

it('the socket aborts commands when the server stops, and waits for them', async () => {
  const begun = Promise.withResolvers<void>();
  execute = ({ signal, stderr }) =>
    new Promise((end) => {
      signal.addEventListener('abort', () => {
        stderr('tidying up');
        setTimeout(() => end(130), 50);
      });
      begun.resolve();
    });
  const running = run();
  await begun.promise;
  await socket?.close();
  expect(await running).toEqual({ exitCode: 130, output: ['err tidying up'] });
  expect(await run()).toEqual({ exitCode: undefined, output: [] });
});
