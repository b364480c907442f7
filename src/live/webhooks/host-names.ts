import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

const isWindows = process.platform === 'win32';
const hostsFile = isWindows ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';
const resolverFile = '/etc/resolv.conf';
/** How many search domains are tried. The C library long had the same limit. */
const maxSearchDomains = 6;

/** An error of a look-up that got no answer in time. */
class SilentError extends Error {
  readonly code = 'ETIMEOUT';
}

/** The error of a name without addresses. */
class AbsentError extends Error {
  readonly code = 'ENODATA';
}

interface HostNamesOptions {
  /** Whether names may lead to the server's own network, where they may be known only in its search domains. */
  readonly hasOwnNetworks: boolean;
  /** The name servers, by default those of the system. */
  readonly servers?: readonly string[];
  /** The file with the search domains, by default that of the system. */
  readonly resolverFile?: string;
  /** How long the look-up of a name may take. */
  readonly withinMs?: number;
  /** After how long a name server that does not answer is asked again, once. */
  readonly repeatMs?: number;
}

/**
 * Looks up host names that users choose. Node's own `lookup` occupies one of the few threads of the process until the system answers,
 * which takes half a minute if the name server of a domain is silent. Meanwhile every other look-up of the process may wait: for other
 * receivers, PostgreSQL and the store of files. So a name is looked up in the file of hosts, and then by asking the name servers
 * directly, which takes no thread. A name that they do not know is looked for in the search domains of the system, but only if it may lead
 * to the server's own network.
 */
export class HostNames {
  readonly #options: Required<Omit<HostNamesOptions, 'servers'>> & Pick<HostNamesOptions, 'servers'>;

  constructor(options: HostNamesOptions) {
    this.#options = { resolverFile, withinMs: 6_000, repeatMs: 2_000, ...options };
  }

  /** The addresses of a name, at least one. Throws errors with the codes of `node:dns`. */
  async addressesOf(name: string): Promise<readonly LookupAddress[]> {
    const local = await addressesInHosts(name);
    if (local.length > 0) return local;
    const { servers, withinMs, repeatMs } = this.#options;
    // Each look-up has a resolver of its own, so that it can be cancelled alone.
    const resolver = new Resolver({ timeout: repeatMs, tries: 2 });
    if (servers) resolver.setServers(servers);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      resolver.cancel();
    }, withinMs);
    try {
      return await addressesBy(resolver, name);
    } catch (error) {
      if (!this.#options.hasOwnNetworks || name.endsWith('.') || !isAbsence(error)) throw error;
      for (const domain of await searchDomains(this.#options.resolverFile)) {
        const found = await addressesBy(resolver, `${name}.${domain}`).catch(() => undefined);
        if (found) return found;
        if (isLate) throw new SilentError('The name servers did not answer.');
      }
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

async function addressesBy(resolver: Resolver, name: string): Promise<readonly LookupAddress[]> {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = [
    ...(v4.status === 'fulfilled' ? v4.value.map((address) => ({ address, family: 4 })) : []),
    ...(v6.status === 'fulfilled' ? v6.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (addresses.length > 0) return addresses;
  const reasons: unknown[] = [v4, v6].flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  if (reasons.some(isSilence)) throw new SilentError('The name servers did not answer.');
  // A chain of CNAME records that leads to no address is answered without an error.
  throw reasons[0] ?? new AbsentError('There are no addresses of this name.');
}

/** Whether the name servers say that there is no such name. */
function isAbsence(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOTFOUND' || code === 'ENODATA';
}

function isSilence(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ETIMEOUT' || code === 'ECANCELLED';
}

/** The search domains of the system. If several lines of the file name some, the last one counts, as for the C library. */
async function searchDomains(file: string): Promise<readonly string[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const lines = text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/),
  );
  const last = lines.findLast(([keyword]) => keyword === 'search' || keyword === 'domain');
  return last?.slice(1, maxSearchDomains + 1).filter((domain) => domain !== '.') ?? [];
}

async function addressesInHosts(name: string): Promise<LookupAddress[]> {
  const text = await readFile(hostsFile, 'utf8').catch(() => '');
  const wanted = name.replace(/\.$/, '').toLowerCase();
  return text.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/);
    const family = isIP(address);
    return family > 0 && names.includes(wanted) ? [{ address, family }] : [];
  });
}
