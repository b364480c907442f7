import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { signatureHeaders } from '../live/webhooks/sign.ts';
import { secretText } from '../resolvers/webhooks/secrets.ts';
import { CommandError } from './failures.ts';

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
  readonly signal: AbortSignal;
}

/** What is kept from one run to the next. */
interface State {
  /** In base64. */
  readonly secret: string;
  readonly cursor: string | undefined;
}

interface Change {
  readonly id: string;
  readonly cursor: string;
  readonly eventType: string;
  readonly occurredUtc: string;
  readonly subjectId: string;
  readonly issueKey: string | null;
}

/** How long a program may take to answer, how soon a message is sent again, and how long a read waits for changes. */
const answerWithinMs = 15_000;
const retryMs = 2_000;
const waitSeconds = 25;

/**
 * Forwards changes until the signal: in order, each until the program answers with 2xx. The position in the log is kept after each, so
 * that the next run continues from it. Throws CommandError when the server refuses.
 */
export async function listenAndForward(options: ListenOptions, around: Surroundings): Promise<void> {
  const { stateFile } = options;
  const { signal, stdout } = around;
  let state = readState(stateFile);
  writeState(stateFile, state);
  const secret = Buffer.from(state.secret, 'base64');
  stdout(
    options.isJson
      ? `${JSON.stringify({ secret: secretText(secret), forwardTo: options.forwardTo })}\n`
      : `The secret is ${secretText(secret)}\nForwarding to ${options.forwardTo}\n`,
  );
  while (!signal.aborted) {
    const page = await read(options, state.cursor, signal);
    for (const change of page?.changes ?? []) {
      if (options.events.length === 0 || options.events.includes(change.eventType))
        await forward(options, change, secret, around);
      if (signal.aborted) return;
      state = { ...state, cursor: change.cursor };
      writeState(stateFile, state);
    }
    if (page) state = { ...state, cursor: page.cursor };
    writeState(stateFile, state);
  }
}

/**
 * The changes after a cursor; without one, only the position to begin at. Undefined when the server cannot be reached at the
 * moment.
 */
async function read(
  { server, token }: ListenOptions,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<{ changes: Change[]; cursor: string } | undefined> {
  if (cursor === undefined) {
    const query = '{ workspace { changeCursor } }';
    const answer = await call(server, token, '/graphql', signal, { query });
    const newest = (answer as { data?: { workspace: { changeCursor: string } } } | undefined)?.data;
    return newest && { changes: [], cursor: newest.workspace.changeCursor };
  }
  const path = `/v1/changes?${new URLSearchParams({ cursor, wait: String(waitSeconds), page_size: '100' })}`;
  const page = (await call(server, token, path, signal)) as { results: Change[]; cursor: string } | undefined;
  return page && { changes: page.results, cursor: page.cursor };
}

/**
 * Sends a request to the server. Waits and returns undefined when the server cannot answer at the moment; throws when it refuses.
 */
async function call(
  server: string,
  token: string,
  path: string,
  signal: AbortSignal,
  body?: object,
): Promise<unknown> {
  try {
    const response = await fetch(new URL(path, server), {
      method: body ? 'POST' : 'GET',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      signal,
    });
    const answer: unknown = await response.json();
    if (response.ok) return answer;
    if (response.status === 404) return undefined;
    const { detail = '' } = answer as { detail?: string };
    if (response.status < 500 && response.status !== 429)
      throw new CommandError(`The server answers ${response.status}: ${detail}`);
  } catch (error) {
    if (signal.aborted) return undefined;
    if (error instanceof CommandError) throw error;
  }
  await delay(retryMs, undefined, { signal }).catch(() => undefined);
  return undefined;
}

/** Sends one message until it arrives, with a line for each attempt. */
async function forward(
  options: ListenOptions,
  change: Change,
  secret: Buffer,
  { stdout, signal }: Surroundings,
): Promise<void> {
  const body = await bodyOf(options, change, signal);
  while (!signal.aborted) {
    const status = await send(options.forwardTo, { id: change.id, body }, secret);
    const shown = { eventType: change.eventType, issueKey: change.issueKey, id: change.id, status };
    stdout(
      options.isJson
        ? `${JSON.stringify(shown)}\n`
        : `${status ?? 'no answer'} ${change.eventType} ${change.issueKey ?? change.subjectId}\n`,
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

/** The message about a change, as a webhook of the server would send it. */
async function bodyOf(
  { server, token }: ListenOptions,
  change: Change,
  signal: AbortSignal,
): Promise<string> {
  const { eventType: type, occurredUtc: timestamp, issueKey, subjectId } = change;
  const issuePath = `/v1/issues/${issueKey}`;
  const issue = issueKey ? ((await call(server, token, issuePath, signal)) ?? null) : undefined;
  const isComment = issueKey && subjectId.startsWith('comment_');
  const comment = isComment
    ? await call(server, token, `${issuePath}/comments/${subjectId}`, signal)
    : undefined;
  return JSON.stringify({ type, timestamp, data: { change, issue, comment } });
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
