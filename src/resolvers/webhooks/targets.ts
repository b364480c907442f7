import ipaddr from 'ipaddr.js';
import { limits } from '../../model/limits.ts';
import { lengthRule } from '../../model/sentences.ts';
import { isLonger } from '../../model/text-rules.ts';
import type { Violations } from '../errors.ts';
import { checkText } from '../writes/write-rules.ts';

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

/**
 * The addresses that messages may be sent to: public ones by https, and the networks of WEBHOOK_NETWORKS by https or
 * http. With any other address, a client could make the server send requests to services in its own network.
 */
export class WebhookTargets {
  readonly #networks: readonly Network[];

  /** Networks such as `10.0.0.0/8`, or single addresses. Throws for anything else. */
  constructor(networks: readonly string[] = []) {
    this.#networks = networks.map((network) => {
      if (network.includes('/')) return ipaddr.parseCIDR(network);
      const address = ipaddr.process(network);
      return [address, address.kind() === 'ipv4' ? 32 : 128];
    });
  }

  /** Whether addresses that are not public may be connected to. */
  get hasNetworks(): boolean {
    return this.#networks.length > 0;
  }

  /** Whether an address may be connected to, as text; `protocol` is `https:` or `http:`. */
  allows(address: string, protocol: string): boolean {
    if (!ipaddr.isValid(address)) return false;
    // An IPv4-mapped IPv6 address is treated as the IPv4 address.
    const parsed = ipaddr.process(address);
    const isConfigured = this.#networks.some(([network, bits]) => isWithin(parsed, network, bits));
    return isConfigured || (protocol === 'https:' && isPublic(parsed));
  }

  /**
   * Adds a violation for a URL that can never be delivered to. The addresses of a host name are checked at each
   * attempt.
   */
  check(violations: Violations, field: string, text: string): void {
    const before = violations.any;
    checkText(violations, field, text, { min: 1, max: limits.url });
    if (violations.any && !before) return;
    const url = URL.parse(text);
    if (!url) {
      violations.add(field, 'must be a URL such as https://example.com/hook');
      return;
    }
    const problem = isLonger(url.href, limits.url)
      ? `${lengthRule(limits.url)} when it is percent-encoded`
      : this.problemOf(url);
    if (problem) violations.add(field, problem);
  }

  /** The problem of a URL, as the end of a sentence; undefined if it has none. */
  problemOf(url: URL): string | undefined {
    const { protocol, username, password, port, hash } = url;
    if (protocol !== 'https:' && protocol !== 'http:') return 'must begin with https://';
    if (username || password) return 'must not contain a user name or a password';
    if (hash) return 'must not contain a fragment';
    if (port === '0') return 'must not have the port 0';
    const address = literalOf(url);
    if (address !== undefined) {
      return this.allows(address, protocol)
        ? undefined
        : 'must not name an address that is not public, unless WEBHOOK_NETWORKS has it';
    }
    if (protocol === 'http:' && this.#networks.length === 0) return 'must begin with https://';
    return undefined;
  }
}

/**
 * The address in place of a host name; undefined for a name. Node looks up names only, so such an address needs a check
 * of its own.
 */
export function literalOf({ hostname }: URL): string | undefined {
  // URL writes each spelling of an IPv4 address (octal, hexadecimal, one number) with four decimal numbers.
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return ipaddr.isValid(bare) ? bare : undefined;
}

/** IPv6 has public addresses in one range only. Outside of it are old notations of IPv4, and unassigned addresses. */
function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address.range() === 'unicast' && (address instanceof ipaddr.IPv4 || address.match(globalUnicast));
}

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

function isWithin(
  address: ipaddr.IPv4 | ipaddr.IPv6,
  network: ipaddr.IPv4 | ipaddr.IPv6,
  bits: number,
): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}
