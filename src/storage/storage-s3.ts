import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { AwsClient } from 'aws4fetch';
import { readFirstBytes } from './first-bytes.ts';
import {
  type ByteRange,
  type FileStore,
  StorageFullError,
  StorageRefusedError,
  StorageUnavailableError,
} from './storage.ts';

/** A request fails when the store has sent nothing for this long. */
const defaultIdleTimeoutMs = 60_000;

/**
 * The maximum number of responses such as 100 Continue before the answer to a request. Each of them restarts the idle timeout, so
 * without a maximum a store could keep a request open for ever.
 */
const maxInformationalResponses = 100;

/** The statuses of a store that is overloaded or asks for fewer requests, and the pauses before the request is retried. */
const temporaryStatuses: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);
const retryPausesMs = [100, 500];

/**
 * Files as objects of an S3-compatible store. An example of the URL is
 * `https://KEY:SECRET@s3.example.com/bucket/folder`.
 */
export class S3Store implements FileStore {
  readonly #base: string;
  readonly #client: AwsClient;
  readonly #idleTimeoutMs: number;

  /** The region is the parameter `region` of the URL, or is read from the host name. */
  constructor(address: URL, idleTimeoutMs = defaultIdleTimeoutMs) {
    this.#idleTimeoutMs = idleTimeoutMs;
    const { protocol, host, pathname, username, password, searchParams } = address;
    const region = searchParams.get('region');
    this.#base = `${protocol}//${host}${pathname.replace(/(?<!\/)\/*$/, '/')}`;
    this.#client = new AwsClient({
      accessKeyId: decodeURIComponent(username),
      secretAccessKey: decodeURIComponent(password),
      service: 's3',
      ...(region && { region }),
    });
  }

  async put(key: string, bytes: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<void> {
    try {
      const response = await this.#send('PUT', key, { 'content-length': String(sizeBytes) }, bytes);
      // A store that refuses may not read the rest of the bytes.
      await this.#requireStatus(response, [200]).finally(() => response.destroy());
    } catch (error) {
      // S3 discards an incomplete object, but some compatible stores keep it.
      await this.remove(key).catch(() => undefined);
      throw error;
    }
  }

  async get(key: string, range?: ByteRange): Promise<Readable | undefined> {
    const headers = range ? { range: `bytes=${range.start}-${range.end}` } : undefined;
    const response = await this.#sendWithRetries('GET', key, headers);
    if (range ? isPart(range, response) : response.statusCode === 200) return contentOf(response);
    await this.#requireStatus(response, [404]);
    return undefined;
  }

  async size(key: string): Promise<number | undefined> {
    const response = await this.#sendWithRetries('HEAD', key);
    const { statusCode, headers } = response;
    await this.#requireStatus(response, [200, 404]);
    return statusCode === 200 ? Number(headers['content-length']) : undefined;
  }

  async remove(key: string): Promise<void> {
    await this.#requireStatus(await this.#sendWithRetries('DELETE', key), [200, 204, 404]);
  }

  /** An interrupted PUT leaves nothing to remove. */
  async removeIncomplete(): Promise<number> {
    return 0;
  }

  /** Sends a request without a body, and retries it while the store cannot answer it. */
  async #sendWithRetries(
    method: string,
    key: string,
    headers?: Record<string, string>,
  ): Promise<IncomingMessage> {
    for (const pauseMs of retryPausesMs) {
      const response = await this.#send(method, key, headers);
      if (!temporaryStatuses.has(response.statusCode ?? 0)) return response;
      await this.#readFirstBytes(response).catch(() => undefined);
      await delay(pauseMs * (1 + Math.random()));
    }
    return this.#send(method, key, headers);
  }

  /** The beginning of an answer without a file. The connection is closed if the store sends it too slowly. */
  async #readFirstBytes(response: IncomingMessage): Promise<Buffer> {
    const timer = setTimeout(() => response.destroy(), this.#idleTimeoutMs);
    try {
      return await readFirstBytes(response, maxErrorBytes);
    } catch (error) {
      throw incompleteAnswerError(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Reads an answer without a file. Throws unless the status is one of `statuses`. */
  async #requireStatus(response: IncomingMessage, statuses: readonly number[]): Promise<void> {
    const { statusCode = 0 } = response;
    const body = await this.#readFirstBytes(response);
    const text = body.toString('utf8').trim();
    const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? '';
    // Some stores begin their answer before they know the result, and a proxy may answer with a page of its own. If the request has
    // succeeded, the answer has no content.
    const isLateError = statusCode < 300 && text !== '';
    // A missing bucket is a mistake in the settings, and does not mean that only this object is missing.
    if (statuses.includes(statusCode) && !isLateError && code !== 'NoSuchBucket') return;
    const message = `The store answered ${statusCode} ${code || (isLateError ? 'with content' : '')}`.trim();
    if (statusCode === 507) throw new StorageFullError(message);
    if (isLateError || statusCode >= 500 || statusCode === 429) throw new StorageUnavailableError(message);
    // HEAD has no body, and so no code.
    const isDenied = statusCode === 403 && (code === 'AccessDenied' || code === '');
    const hint = 'A key without the right ListBucket gets this answer also for a file that does not exist';
    throw new StorageRefusedError(isDenied ? `${message}. ${hint}.` : `${message}.`);
  }

  async #send(
    method: string,
    key: string,
    headers: Record<string, string> = {},
    body?: AsyncIterable<Uint8Array>,
    agent: false | undefined = body && false,
  ): Promise<IncomingMessage> {
    const signedRequest = await this.#client.sign(`${this.#base}${key}`, { method, headers });
    const url = new URL(signedRequest.url);
    const request = (url.protocol === 'https:' ? https : http).request(url, {
      method,
      headers: {
        ...Object.fromEntries(signedRequest.headers),
        ...headers,
        // A store that closes the connection with its answer would interrupt the source of a body, which may end a little later.
        ...(body && { connection: 'keep-alive' }),
      },
      // An idle connection may be closed by the store at this moment, and a streamed body cannot be sent again.
      agent,
    });
    // After the headers there is no other listener, and an 'error' event without listeners ends the process. The answer
    // fails by itself, maybe before it is read, while the body is still being sent.
    request
      .on('error', () => undefined)
      .once('response', (response) => response.on('error', () => undefined));
    request.setTimeout(this.#idleTimeoutMs, () => request.destroy(noAnswer()));
    let informationalResponses = 0;
    request.on('information', () => {
      informationalResponses += 1;
      if (informationalResponses > maxInformationalResponses)
        request.destroy(new StorageUnavailableError('The store sends nothing but informational answers.'));
    });
    let sourceFailure: { error: unknown } | undefined;
    const responseArrived = Promise.race([
      once(request, 'response') as Promise<[IncomingMessage]>,
      // Without a listener, Node closes the connection and reports nothing.
      (once(request, 'upgrade') as Promise<[IncomingMessage, Socket]>).then(([{ statusCode }, socket]) => {
        socket.destroy();
        throw new StorageUnavailableError(`The store answered ${statusCode}.`);
      }),
    ]);
    const bodySent = body
      ? pipeline(
          withErrorReport(body, (error) => (sourceFailure = { error })),
          request,
        )
      : Promise.resolve(void request.end());
    // Each byte of the head restarts the idle timeout, so the head has a timeout of its own.
    let isAnswered = false;
    let headTimer: NodeJS.Timeout | undefined;
    // If the request fails first, nothing awaits this promise, and an unhandled rejection would end the process.
    bodySent.then(
      () => {
        if (!isAnswered) headTimer = setTimeout(() => request.destroy(noAnswer()), this.#idleTimeoutMs);
      },
      () => undefined,
    );
    try {
      const [response] = await responseArrived;
      // A store that refuses may answer before it has read the bytes, and read no more of them.
      if (!isRefusal(response)) await bodySent;
      return response;
    } catch (error) {
      if (sourceFailure) throw sourceFailure.error;
      if (error instanceof StorageUnavailableError) throw error;
      // A request without a body is idempotent, so it is sent again, over a new connection.
      if (request.reusedSocket && !body) return this.#send(method, key, headers, undefined, false);
      throw new StorageUnavailableError('The store cannot be reached.', { cause: error });
    } finally {
      isAnswered = true;
      clearTimeout(headTimer);
    }
  }
}

/** Passes the bytes on, and records an error of their source, to distinguish it from an error of the store. */
async function* withErrorReport(bytes: AsyncIterable<Uint8Array>, report: (error: unknown) => void) {
  try {
    yield* bytes;
  } catch (error) {
    report(error);
    throw error;
  }
}

/**
 * The bytes of an answer. Reading them fails as unavailable when the store stops sending midway. Resolves with the
 * first bytes, so that a store that sends none can still be reported by a status.
 */
async function contentOf(response: IncomingMessage): Promise<Readable> {
  // The answer may fail before the reader listens; the reader gets the error as soon as it reads.
  const bytes = new PassThrough().on('error', () => undefined);
  response.on('error', (error) => bytes.destroy(incompleteAnswerError(error)));
  // A reader that stops early must not leave the connection waiting for it.
  bytes.on('close', () => response.destroy());
  await once(response.pipe(bytes), 'readable');
  return bytes;
}

/** Whether an answer is the part of the file that was asked for. */
function isPart({ start, end }: ByteRange, { statusCode, headers }: IncomingMessage): boolean {
  return statusCode === 206 && headers['content-range']?.startsWith(`bytes ${start}-${end}/`) === true;
}

function noAnswer(): StorageUnavailableError {
  return new StorageUnavailableError('The store does not answer.');
}

function incompleteAnswerError(error: unknown): StorageUnavailableError {
  return new StorageUnavailableError('The store closed the connection before its answer was complete.', {
    cause: error,
  });
}

function isRefusal({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 300;
}

/** The maximum number of bytes that are read of an answer without a file. The code of an error is at its beginning. */
const maxErrorBytes = 65_536;
