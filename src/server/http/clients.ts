import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** The client of a request, and the URL at which it reaches this server, from headers as far as their sender is trusted. */
export interface Client {
  /** The address of the client if trusted proxies name it, otherwise that of the other end of the connection. */
  readonly address: string | undefined;
  /** What absolute URLs begin with, without a trailing slash. */
  readonly origin: string;
  /** The requested host in lower case. It may only be used to choose what to serve. */
  readonly host: string | undefined;
}

interface ClientsOptions {
  readonly publicUrl?: string | undefined;
  /** The addresses and networks (CIDR) of trusted proxies. Headers of other senders are ignored. */
  readonly trustedProxies?: readonly string[] | undefined;
}

/** Determines the client of a request. Nothing that a client itself sends changes an address or a link in the answer. */
export class Clients {
  readonly #publicUrl: string | undefined;
  readonly #proxies: BlockList;
  readonly #hasProxies: boolean;

  constructor({ publicUrl, trustedProxies = [] }: ClientsOptions) {
    this.#publicUrl = publicUrl;
    this.#proxies = networksOf(trustedProxies);
    this.#hasProxies = trustedProxies.length > 0;
  }

  of({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): Client {
    const peer = plainAddress(socket.remoteAddress);
    const host = headers.host?.toLowerCase();
    if (!this.#hasProxies || !this.#isProxy(peer))
      return { address: peer, host, origin: this.#publicUrl ?? socketUrl(socket, host) };
    const forwarded = lastOf(headers['x-forwarded-host'])?.toLowerCase() ?? host;
    const protocol = lastOf(headers['x-forwarded-proto']) === 'https' ? 'https' : 'http';
    const isHost = forwarded !== undefined && hostPattern.test(forwarded);
    return {
      address: this.#addressBehindProxies(peer, headers['x-forwarded-for']),
      host: forwarded,
      origin: this.#publicUrl ?? (isHost ? `${protocol}://${forwarded}` : socketUrl(socket, undefined)),
    };
  }

  /** Each proxy adds the address before it at the right. From the right, the first address that is not a proxy is the client. */
  #addressBehindProxies(
    peer: string | undefined,
    forwardedFor: string | string[] | undefined,
  ): string | undefined {
    let client = peer;
    for (const entry of entriesOf(forwardedFor).toReversed()) {
      const forwarded = plainAddress(entry);
      if (!forwarded || isIP(forwarded) === 0) break;
      client = forwarded;
      if (!this.#isProxy(forwarded)) break;
    }
    return client;
  }

  #isProxy(address: string | undefined): boolean {
    const family = isIP(address ?? '');
    return (
      address !== undefined && family !== 0 && this.#proxies.check(address, family === 6 ? 'ipv6' : 'ipv4')
    );
  }
}

/** Whether the text is an address, or a network such as `10.0.0.0/8`. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32));
}

function networksOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

const hostPattern = /^(?:[a-z0-9_.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/;

/** The URL of the socket that the connection came in on, with the host `localhost` if a local client used that name. */
function socketUrl({ localAddress, localPort }: IncomingMessage['socket'], host: string | undefined): string {
  const address = plainAddress(localAddress) ?? '127.0.0.1';
  const isLocal = address === '::1' || address.startsWith('127.');
  if (isLocal && host === `localhost:${localPort}`) return `http://${host}`;
  return `http://${isIP(address) === 6 ? `[${address}]` : address}:${localPort}`;
}

/** Converts an IPv4 address mapped into IPv6 to IPv4, and removes the zone of an address. */
function plainAddress(address: string | undefined): string | undefined {
  return address?.replace(/^::ffff:(?=\d+\.)/i, '').split('%', 1)[0];
}

function entriesOf(header: string | string[] | undefined): string[] {
  return [header ?? []]
    .flat()
    .flatMap((value) => value.split(','))
    .map((entry) => entry.trim());
}

/** The value from the nearest proxy, which is the last in the list. */
function lastOf(header: string | string[] | undefined): string | undefined {
  return entriesOf(header).at(-1) || undefined;
}
