import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { signatureHeaders } from '../live/webhooks/sign.ts';
import { secretText } from '../resolvers/webhooks/secrets.ts';
import { CommandError } from './failures.ts';
import { type LogMessage, LogReader } from './log-reader.ts';

export interface ListenOptions {
  readonly server: string;
  readonly token: string;
  readonly forwardTo: string;
  /** The kinds of events to forward; all if there are none. */
  readonly events: readonly string[];
  readonly stateFile: string;
  readonly isJson: boolean;
}

interface Surroundings {
  readonly stdout: (text: string) => unknown;
  readonly stderr: (text: string) => unknown;
  readonly signal: AbortSignal;
}

/** What is kept from one run to the next. */
interface State {
  /** In base64. */
  readonly secret: string;
  readonly cursor: string | undefined;
}

/** How long a program may take to answer, and how soon a message is sent again. */
const answerWithinMs = 15_000;
const retryMs = 2_000;

/**
 * Forwards changes until the signal: in order, each until the program answers with 2xx. The position in the log is kept after each, so
 * that the next run continues from it. Throws CommandError when the server refuses.
 */
export async function listenAndForward(options: ListenOptions, around: Surroundings): Promise<void> {
  const { server, token, events, forwardTo, stateFile, isJson } = options;
  const { signal, stdout, stderr } = around;
  const filter = events.length > 0 ? { eventType: { in: [...events] } } : {};
  const log = new LogReader({ server, token, filter, signal, stderr });
  let state = readState(stateFile);
  const keep = (cursor: string) => {
    state = { ...state, cursor };
    writeState(stateFile, state);
  };
  // A secret is printed and kept only once the server has accepted the token.
  const begin = state.cursor ?? (await log.newestCursor());
  let page = begin === undefined ? undefined : await log.readAfter(begin, false);
  if (!page || begin === undefined) return;
  keep(begin);
  const secret = Buffer.from(state.secret, 'base64');
  stdout(
    isJson
      ? `${JSON.stringify({ secret: secretText(secret), forwardTo })}\n`
      : `The secret is ${secretText(secret)}\nForwarding to ${forwardTo}\n`,
  );
  while (page) {
    for (const message of page.messages) {
      await forward(options, message, secret, around);
      if (signal.aborted) return;
      keep(message.cursor);
    }
    keep(page.cursor);
    page = await log.readAfter(page.cursor, true);
  }
}

/** Sends one message until it arrives, with a line for each attempt. */
async function forward(
  { forwardTo, isJson }: ListenOptions,
  message: LogMessage,
  secret: Buffer,
  { stdout, signal }: Surroundings,
): Promise<void> {
  const { id, eventType, issueKey, about } = message;
  while (!signal.aborted) {
    const status = await send(forwardTo, message, secret);
    stdout(
      isJson
        ? `${JSON.stringify({ eventType, issueKey, id, status })}\n`
        : `${status ?? 'no answer'} ${eventType} ${about}\n`,
    );
    if (status !== null && status >= 200 && status < 300) return;
    await delay(retryMs, undefined, { signal }).catch(() => undefined);
  }
}

async function send(
  url: string,
  message: { id: string; body: string },
  secret: Buffer,
): Promise<number | null> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...signatureHeaders(message, [secret], new Date()) },
      body: message.body,
      redirect: 'manual',
      signal: AbortSignal.timeout(answerWithinMs),
    });
    await response.body?.cancel();
    return response.status;
  } catch {
    return null;
  }
}

function readState(file: string): State {
  if (!existsSync(file)) return { secret: randomBytes(32).toString('base64'), cursor: undefined };
  try {
    const { secret, cursor } = JSON.parse(readFileSync(file, 'utf8')) as State;
    if (typeof secret === 'string') return { secret, cursor };
  } catch {
    // Reported below, as for a file with other content.
  }
  throw new CommandError(`${file} is not a state file of this command. Delete it to start over.`);
}

/** Writes the state completely or not at all. Only its owner may read the secret. */
function writeState(file: string, state: State): void {
  writeFileSync(`${file}.new`, JSON.stringify(state), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
