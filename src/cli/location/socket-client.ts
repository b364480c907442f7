import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Terminal } from '../environment.ts';
import { CommandError } from '../failures.ts';
import { interruptPath, socketPathOf } from './socket-protocol.ts';
import type { CommandRequest } from './socket-request.ts';

// With `import`, Node would also load its WebSocket client, which takes as long as everything else that this process does. For
// the same reason the lines of the answer are checked without zod.
const { request } = process.getBuiltinModule('node:http');

/**
 * Runs a command in the server that holds the data directory, and prints its output. Returns undefined if this user reaches no
 * server through the socket: the process that holds the directory is another one, is still starting, or belongs to somebody else.
 */
export async function runThroughServer(
  dataDir: string,
  { command, args }: Pick<CommandRequest, 'command' | 'args'>,
  terminal: Terminal,
): Promise<number | undefined> {
  const socketPath = socketPathOf(dataDir);
  if (socketPath === undefined) return undefined;
  const { isTty, columns, cwd, operator, signal } = terminal;
  const id = randomUUID();
  const clientRequest = request({ socketPath, method: 'POST', path: '/commands', agent: false });
  clientRequest.end(
    JSON.stringify({ id, command, args, isTerminal: isTty, columns, cwd, operator } satisfies CommandRequest),
  );
  const interrupted = () =>
    void interrupt(socketPath, id).then((isDone) => isDone || clientRequest.destroy());
  signal.addEventListener('abort', interrupted);
  try {
    const answer = await answerTo(clientRequest);
    return answer && (await readAnswer(answer, terminal));
  } catch (error) {
    signal.throwIfAborted();
    if ((error as NodeJS.ErrnoException).code === 'ECONNRESET') throw new CommandError(serverStopped);
    throw error;
  } finally {
    signal.removeEventListener('abort', interrupted);
  }
}

const serverStopped = 'The server stopped before the command was finished. Its log may say why.';

/**
 * Asks the server to interrupt a run, which then says what it has done. Returns false for a server of an earlier version, which
 * notices only that its client is gone.
 */
async function interrupt(socketPath: string, id: string): Promise<boolean> {
  const clientRequest = request({ socketPath, method: 'POST', path: interruptPath, agent: false });
  clientRequest.end(id);
  const answer = await answerTo(clientRequest).catch(() => undefined);
  answer?.resume();
  return answer?.statusCode === 204;
}

async function answerTo(clientRequest: ClientRequest): Promise<IncomingMessage | undefined> {
  try {
    const [answer] = (await once(clientRequest, 'response')) as [IncomingMessage];
    return answer;
  } catch (error) {
    if (unreachableCodes.has(String((error as NodeJS.ErrnoException).code))) return undefined;
    throw error;
  }
}

const unreachableCodes: ReadonlySet<string> = new Set(['ENOENT', 'ECONNREFUSED', 'EACCES']);

async function readAnswer(answer: IncomingMessage, { stdout, drained, stderr }: Terminal): Promise<number> {
  for await (const text of linesOf(answer)) {
    const { out, err, exit } = Object(JSON.parse(text)) as { out?: unknown; err?: unknown; exit?: unknown };
    if (typeof out === 'string') {
      stdout(out);
      await drained();
    } else if (typeof err === 'string') stderr(err);
    else if (typeof exit === 'number') return exit;
    else throw new Error(`The server sent a line that is not part of an answer: ${text}`);
  }
  throw new CommandError(serverStopped);
}

/** Splits at line feeds only. readline would also split at U+2028, which JSON does not escape. */
async function* linesOf(answer: IncomingMessage): AsyncGenerator<string> {
  let incompleteLine = '';
  for await (const chunk of answer.setEncoding('utf8')) {
    const lines = (incompleteLine + String(chunk)).split('\n');
    incompleteLine = lines.pop() ?? '';
    yield* lines;
  }
}
