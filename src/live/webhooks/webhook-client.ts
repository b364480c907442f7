import type { LookupAddress } from 'node:dns';
import {
  Agent as HttpAgent,
  type IncomingMessage,
  request as requestByHttp,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as requestByHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { readFirstBytes } from '../../storage/first-bytes.ts';
import { type WebhookTargets } from '../../resolvers/webhooks/targets.ts';
import type { ReceiverResponse } from '../../resolvers/webhooks/sending.ts';
import { HostNames } from './host-names.ts';

/** How much of an answer is read, and how much of that is kept. */
const readBytes = 4_096;
const keptBytes = 1_024;
/** How many bytes a receiver may send in all before `readBytes` of its answer are read: of informational answers and headers, for example. */
const maxSentBytes = 131_072;

/** For how long an idle connection stays open, and how many do for one receiver. */
const idleOptions = { keepAlive: true, timeout: 10_000, maxFreeSockets: 8 };
/** How many idle connections stay open for all receivers. Users choose the receivers, and each may have another address. */
const maxIdle = 64;

interface WebhookClientOptions {
  readonly targets: WebhookTargets;
  /** How long an attempt may take in all: the lookup, the connection and the answer. */
  readonly withinMs: number;
  readonly hostNames?: Pick<HostNames, 'addressesOf'>;
}

/** Sends messages to receivers, over connections of its own. It ignores proxies that the environment configures. */
export class WebhookClient {
  readonly #targets: WebhookTargets;
  readonly #withinMs: number;
  readonly #hostNames: Pick<HostNames, 'addressesOf'>;
  // Connections in use have no limit here: workspaces share agents, so one would have to wait for the receivers of another. The
  // deliverer limits how many messages are sent at once.
  readonly #agents = {
    'http:': withIdleLimit(new HttpAgent(idleOptions)),
    'https:': withIdleLimit(new HttpsAgent(idleOptions)),
  };

  constructor({
    targets,
    withinMs,
    hostNames = new HostNames({ hasOwnNetworks: targets.hasNetworks }),
  }: WebhookClientOptions) {
    this.#targets = targets;
    this.#withinMs = withinMs;
    this.#hostNames = hostNames;
  }

  /** Sends a POST and reads the beginning of the answer. It never throws: a failure is part of the result. Redirects are not followed. */
  async send(
    target: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    withinMs = this.#withinMs,
  ): Promise<ReceiverResponse> {
    const begunMs = performance.now();
    const answer = await this.#attempt(target, headers, body, withinMs).catch((error: unknown) => ({
      status: null,
      error: messageOf(error),
      head: '',
      retryAfter: null,
    }));
    return { ...answer, ms: Math.round(performance.now() - begunMs) };
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  async #attempt(
    target: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    withinMs: number,
  ): Promise<Omit<ReceiverResponse, 'ms'>> {
    const url = new URL(target);
    const problem = this.#targets.problemOf(url);
    if (problem) throw new AttemptError(`The URL ${problem}.`);
    const { protocol } = url;
    if (protocol !== 'https:' && protocol !== 'http:')
      throw new AttemptError('The URL must begin with https://.');
    const signal = AbortSignal.timeout(withinMs);
    const options = {
      method: 'POST',
      agent: this.#agents[protocol],
      // Checks the addresses of a host name before it connects to one. `problemOf` has checked a literal address, for which Node
      // calls no lookup.
      lookup: checkedLookup(this.#hostNames, this.#targets, protocol),
      headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
      maxHeaderSize: 16_384,
      signal,
    };
    try {
      const response = await exchange(url, options, body).catch((error: unknown) => {
        // The receiver has closed the idle connection just then, and need not have seen the message.
        if (error instanceof StaleConnectionError) return exchange(url, { ...options, agent: false }, body);
        throw error;
      });
      const head = headOf(await readFirstBytes(response, readBytes));
      return {
        status: response.statusCode ?? null,
        error: null,
        head,
        retryAfter: response.headers['retry-after'] ?? null,
      };
    } catch (error) {
      throw signal.aborted
        ? new AttemptError(`There was no complete answer within ${withinMs / 1_000} s.`)
        : error;
    }
  }
}

/** Lets an agent close connections instead of keeping more than `maxIdle` of them. */
function withIdleLimit<Kind extends HttpAgent>(agent: Kind): Kind {
  const keep = agent.keepSocketAlive.bind(agent);
  agent.keepSocketAlive = (socket) => {
    const idle = Object.values(agent.freeSockets).reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0);
    return idle < maxIdle && keep(socket);
  };
  return agent;
}

/** Sends a request and waits for the head of its answer. */
function exchange(url: URL, options: RequestOptions, body: string): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = (url.protocol === 'https:' ? requestByHttps : requestByHttp)(url, options);
  let answered: IncomingMessage | undefined;
  request
    // The parser has limits for headers, but none for informational answers, and a receiver may send thousands of them at once.
    .on('socket', (socket) => {
      let bytes = 0;
      const count = (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxSentBytes) (answered ?? request).destroy(new AttemptError('The answer is too long.'));
      };
      socket.on('data', count);
      request.on('close', () => socket.off('data', count));
    })
    .on('response', (response) => {
      answered = response;
      resolve(response);
    })
    .on('upgrade', (_response, socket) => {
      socket.destroy();
      reject(new AttemptError('The receiver switched to another protocol (101) instead of answering.'));
    })
    .on('error', (error: NodeJS.ErrnoException) => {
      const isClosed = error.code === 'ECONNRESET' || error.code === 'EPIPE';
      reject(request.reusedSocket && isClosed ? new StaleConnectionError() : error);
    })
    // Node may close a connection without any of these events, and the attempt would never end.
    .on('close', () => reject(new AttemptError(messages.ECONNRESET)))
    .end(body);
  return promise;
}

/** A lookup that returns only addresses to which connections are allowed, and fails if there are none. */
function checkedLookup(
  hostNames: Pick<HostNames, 'addressesOf'>,
  targets: WebhookTargets,
  protocol: string,
): LookupFunction {
  const allowedOf = callbackify(async (hostname: string): Promise<[LookupAddress, ...LookupAddress[]]> => {
    const addresses = await hostNames.addressesOf(hostname);
    const [first, ...others] = addresses.filter(({ address }) => targets.allows(address, protocol));
    if (!first) throw new AttemptError('The host name does not resolve to a public address.');
    return [first, ...others];
  });
  return (hostname, options, callback) =>
    allowedOf(hostname, (error, allowed) => {
      if (error) callback(error, '', 0);
      else if (options.all) callback(null, allowed);
      else callback(null, allowed[0].address, allowed[0].family);
    });
}

/** The first bytes of an answer, as a text that can be stored. */
function headOf(bytes: Buffer): string {
  const text = bytes.subarray(0, keptBytes).toString('utf8');
  return text.replaceAll('\0', '\u{FFFD}').toWellFormed();
}

/** An error whose message members may see. */
class AttemptError extends Error {}

/** A connection that was kept from an earlier request was closed before any part of the answer arrived. */
class StaleConnectionError extends Error {}

/** Why an attempt failed, as a sentence that reveals nothing about the network of this process. */
function messageOf(error: unknown): string {
  if (error instanceof AttemptError) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code !== 'string') return 'The request failed.';
  // Node's HTTP parser has a code for each way in which an answer can be malformed.
  const other = code.startsWith('HPE_')
    ? 'The receiver did not answer in HTTP.'
    : `The request failed (${code}).`;
  return messages[code] ?? other;
}

const messages: Readonly<Record<string, string>> & { readonly ECONNRESET: string } = {
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was closed before the answer was complete.',
  ENOTFOUND: 'There is no such host.',
  EAI_AGAIN: 'The host name could not be looked up.',
  EBADNAME: 'The host name is malformed.',
  ENODATA: 'There is no such host.',
  ESERVFAIL: 'The host name could not be looked up.',
  ETIMEOUT: 'The host name could not be looked up in time.',
  EPROTO: 'The receiver did not answer in TLS.',
  HPE_HEADER_OVERFLOW: 'The headers of the answer are too large.',
};
