import { setTimeout as delay } from 'node:timers/promises';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { isJsonObject, tryParseJson } from '../model/json.ts';
import {
  NewestCursorDocument,
  WebhookChangesDocument,
  type WebhookChangesQueryVariables,
} from '../rest-compat/operations.generated.ts';
import { lostMessage, lostType, webhookMessage } from '../rest-compat/webhook-messages.ts';
import { errorCodes } from '../resolvers/errors.ts';
import { encodeId, newUuid } from '../resolvers/ids.ts';
import { CommandError } from './failures.ts';

/** How many changes are read at once, how long a read waits for one, and how long an answer may take in all. */
const changesPerRead = 10;
const waitSeconds = 25;
const answerTimeoutMs = 60_000;
/** The delay before a request that had no answer is sent again. */
const retryMs = 2_000;

export interface LogReaderOptions {
  readonly server: string;
  readonly token: string;
  /** The changes to read. */
  readonly filter: WebhookChangesQueryVariables['filter'];
  readonly signal: AbortSignal;
  readonly stderr: (text: string) => unknown;
}

/** A message as a webhook sends it: about a change, or about changes that are missing. */
export interface LogMessage {
  readonly id: string;
  readonly eventType: string;
  readonly issueKey: string | null;
  /** The key of its issue, or the id of what it is about. */
  readonly about: string;
  readonly body: string;
  /** The position in the log after it. */
  readonly cursor: string;
}

export interface LogPage {
  readonly messages: readonly LogMessage[];
  /** The position from which to continue, even if there are no messages. */
  readonly cursor: string;
}

/** The server has refused a request. `code` is that of the GraphQL error. */
class RefusedError extends CommandError {
  readonly code: unknown;

  constructor(message: string, code: unknown) {
    super(message);
    this.code = code;
  }
}

/**
 * Reads the log of changes as a client of the server. While the server cannot answer, reads try again, and standard error says
 * so once. They return undefined when the signal is aborted, and throw CommandError when the server refuses.
 */
export class LogReader {
  readonly #options: LogReaderOptions;
  readonly #url: string;
  /** Why the last request had no answer. */
  #problem: string | undefined;

  constructor(options: LogReaderOptions) {
    this.#options = options;
    this.#url = `${options.server.replace(/\/$/, '')}/graphql`;
  }

  async newestCursor(): Promise<string | undefined> {
    const data = await this.#query(NewestCursorDocument, {});
    return data?.workspace.changeCursor;
  }

  /**
   * The messages about the next changes. Unless it `waits`, it returns at once when there are none. If the log no longer has all of
   * them, the only message says so, and the page ends at the newest change.
   */
  async readAfter(cursor: string, waits: boolean): Promise<LogPage | undefined> {
    const reading = this.#query(WebhookChangesDocument, {
      after: cursor,
      first: changesPerRead,
      waitSeconds: waits ? waitSeconds : 0,
      filter: this.#options.filter,
    });
    const data = await reading.catch((error: unknown) => {
      if (error instanceof RefusedError && error.code === 'CURSOR_EXPIRED') return 'expired' as const;
      throw error;
    });
    if (data === 'expired') return this.#skipToEnd(cursor);
    if (!data) return undefined;
    // A log that was started over begins with this event. By then the message of this type has been sent.
    const nodes = data.changes.nodes.filter(({ eventType }) => eventType !== lostType);
    const messages = nodes.map((node) => {
      const { changeId: id, eventType, body } = webhookMessage(node);
      const issueKey = node.issue?.key ?? null;
      return { id, eventType, issueKey, about: issueKey ?? node.subjectId, body, cursor: node.cursor };
    });
    return { messages, cursor: data.changes.cursor };
  }

  async #skipToEnd(from: string): Promise<LogPage | undefined> {
    const cursor = await this.newestCursor();
    if (cursor === undefined) return undefined;
    const lost = {
      id: encodeId('whdelivery', newUuid()),
      eventType: lostType,
      issueKey: null,
      about: `from ${from} to ${cursor}`,
      body: lostMessage(new Date(), from, cursor),
      cursor,
    };
    return { messages: [lost], cursor };
  }

  async #query<Data, Variables>(
    document: TypedDocumentNode<Data, Variables>,
    variables: Variables,
  ): Promise<Data | undefined> {
    const { signal, server, stderr } = this.#options;
    const body = JSON.stringify({ query: print(document), variables });
    while (!signal.aborted) {
      const answer = await this.#send(body);
      if ('data' in answer) {
        if (this.#problem !== undefined) stderr(`${server} answers again.\n`);
        this.#problem = undefined;
        return answer.data as Data;
      }
      if (signal.aborted) break;
      const { problem } = answer;
      if (problem !== this.#problem) stderr(`${problem}; trying again every ${retryMs / 1_000} s.\n`);
      this.#problem = problem;
      await delay(retryMs, undefined, { signal }).catch(() => undefined);
    }
    return undefined;
  }

  /** Sends a request once. Returns the problem if the server may answer it later. */
  async #send(body: string): Promise<{ data: object } | { problem: string }> {
    const { server, token, signal } = this.#options;
    let status: number;
    let text: string;
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(answerTimeoutMs)]),
      });
      status = response.status;
      text = await response.text();
    } catch (error) {
      return { problem: `${server} cannot be reached: ${reasonOf(error)}` };
    }
    const { data, message, code } = contentOf(text);
    if (status === 200 && data && message === undefined) return { data };
    // An error that happens while the operation runs is in an answer with status 200.
    status = statusOfCode(code) ?? status;
    if (status === 429 || status >= 500) {
      const reason = message === undefined ? '' : `: ${message.replace(/\.$/, '')}`;
      return { problem: `${server} answers ${status}${reason}` };
    }
    if (status === 404 || message === undefined)
      throw new CommandError(`${this.#url} answers ${status}: is --url the URL of workgraph?`);
    throw new RefusedError(`The server answers ${status}: ${message}`, code);
  }
}

/** The data of an answer, and the message and the code of its first error, as far as it has them. */
function contentOf(text: string): { data?: object; message?: string; code?: unknown } {
  const answer = tryParseJson(text);
  if (!isJsonObject(answer)) return {};
  const { data, errors, detail } = answer;
  const [error]: unknown[] = Array.isArray(errors) ? errors : [];
  const { message = detail, extensions } = isJsonObject(error) ? error : {};
  return {
    ...(isJsonObject(data) && { data }),
    ...(typeof message === 'string' && { message }),
    code: isJsonObject(extensions) ? extensions['code'] : undefined,
  };
}

/** The status that REST has for an error with this code of GraphQL. */
function statusOfCode(code: unknown): number | undefined {
  const name = String(code).toLowerCase();
  return Object.hasOwn(errorCodes, name) ? errorCodes[name as keyof typeof errorCodes].status : undefined;
}

/** Why a request had no answer, as the end of a sentence. */
function reasonOf(error: unknown): string {
  const { name, cause } = Object(error) as { name?: string; cause?: unknown };
  if (name === 'TimeoutError') return `there was no answer within ${answerTimeoutMs / 1_000} s`;
  const { code = '', message = String(error) } = Object(cause) as { code?: string; message?: string };
  return reasons[code] ?? message;
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the host name could not be looked up',
};
