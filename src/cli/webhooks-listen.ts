import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { attemptMs } from '../live/webhooks/attempts.ts';
import { WebhookClient } from '../live/webhooks/webhook-client.ts';
import { messageHeaders } from '../live/webhooks/sign.ts';
import { encodeId, newUuid } from '../resolvers/ids.ts';
import { secretText } from '../resolvers/webhooks/secrets.ts';
import { isReceived } from '../resolvers/webhooks/sending.ts';
import { WebhookTargets } from '../resolvers/webhooks/targets.ts';
import { CommandError, UsageError } from './failures.ts';
import { type LogMessage, LogReader, type LogReaderOptions } from './log-reader.ts';

export interface ListenOptions {
  readonly server: string;
  readonly token: string;
  readonly forwardTo: string;
  /** The kinds of events to forward; all if there are none. */
  readonly events: readonly string[];
  /** Whether to forward what imports write, too. */
  readonly hasImports: boolean;
  readonly stateFile: string;
  readonly isJson: boolean;
}

interface ListenEnvironment {
  readonly stdout: (text: string) => unknown;
  readonly stderr: (text: string) => unknown;
  readonly signal: AbortSignal;
}

/** The content of the state file, from which the next run continues. */
interface State {
  /** In base64. */
  readonly secret: string;
  /** The id that messages name, as if they were those of a webhook. */
  readonly webhookId: string;
  readonly cursor: string | undefined;
}

/** How soon a message is sent again. */
const retryMs = 2_000;

/** Messages may go to all addresses, because the user of the command has chosen this one. */
const targets = new WebhookTargets(['0.0.0.0/0', '::/0']);

/**
 * Forwards changes in order until the signal is aborted. Each is sent until the program answers with 2xx; then its cursor is stored, so
 * that the next run continues from it. Throws CommandError when the server refuses.
 */
export async function listenAndForward(options: ListenOptions, env: ListenEnvironment): Promise<void> {
  const { server, token, forwardTo, stateFile, isJson } = options;
  const { signal, stdout, stderr } = env;
  const problem = targets.problemOf(new URL(forwardTo));
  if (problem) throw new UsageError(`--forward-to ${problem}.`);
  const log = new LogReader({ server, token, filter: filterOf(options), signal, stderr });
  let state = readState(stateFile);
  const saveCursor = (cursor: string) => {
    state = { ...state, cursor };
    writeState(stateFile, state);
  };
  // A secret is printed and stored only after the server has accepted the token.
  const startCursor = state.cursor ?? (await log.newestCursor());
  let page = startCursor === undefined ? undefined : await log.readAfter(startCursor, false);
  if (!page || startCursor === undefined) return;
  saveCursor(startCursor);
  const secret = secretText(Buffer.from(state.secret, 'base64'));
  stdout(
    isJson
      ? `${JSON.stringify({ secret, forwardTo })}\n`
      : `The secret is ${secret}\nForwarding to ${forwardTo}\n`,
  );
  const client = new WebhookClient({ targets, withinMs: attemptMs });
  signal.addEventListener('abort', () => client.close());
  try {
    while (page) {
      for (const message of page.messages) {
        if (!(await forward(options, message, state, client, env))) return;
        saveCursor(message.cursor);
      }
      saveCursor(page.cursor);
      page = await log.readAfter(page.cursor, true);
    }
  } finally {
    // An idle connection would keep the process alive.
    client.close();
  }
}

/** The changes that a webhook with the same settings would be sent. */
function filterOf({ events, hasImports }: ListenOptions): LogReaderOptions['filter'] {
  return {
    ...(events.length > 0 && { eventType: { in: [...events] } }),
    ...(!hasImports && { origin: { nin: ['IMPORT'] } }),
  };
}

/** Sends one message until it arrives, and prints a line for each attempt. Returns false if the signal is aborted before. */
async function forward(
  { forwardTo, isJson }: ListenOptions,
  message: LogMessage,
  { secret, webhookId }: State,
  client: WebhookClient,
  { stdout, signal }: ListenEnvironment,
): Promise<boolean> {
  const { id, eventType, issueKey, about, body } = message;
  while (!signal.aborted) {
    const headers = messageHeaders(webhookId, message, [Buffer.from(secret, 'base64')], new Date());
    const answer = await client.send(forwardTo, headers, body);
    const { status } = answer;
    stdout(
      isJson
        ? `${JSON.stringify({ eventType, issueKey, id, status })}\n`
        : `${status ?? 'no answer'} ${eventType} ${about}\n`,
    );
    if (isReceived(answer)) return true;
    await delay(retryMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

function readState(file: string): State {
  const newState = { secret: randomBytes(32).toString('base64'), webhookId: encodeId('webhook', newUuid()) };
  if (!existsSync(file)) return { ...newState, cursor: undefined };
  try {
    const { secret, webhookId, cursor } = JSON.parse(readFileSync(file, 'utf8')) as Partial<State>;
    if (typeof secret === 'string') return { secret, webhookId: webhookId ?? newState.webhookId, cursor };
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
