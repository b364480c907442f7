import { lookup as lookupBySystem, type LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import { Semaphore } from '../../db/engine/semaphore.ts';

const hostsFile = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';

/** An error of a look-up that got no answer in time. */
class SilentError extends Error {
  readonly code = 'ETIMEOUT';
}

interface HostNamesOptions {
  /** Whether names may lead to the server's own network, so that names that only the system knows are of use. */
  readonly hasOwnNetworks: boolean;
  /** The name servers, by default those of the system. */
  readonly servers?: readonly string[];
  readonly bySystem?: (name: string) => Promise<LookupAddress[]>;
  /** How long the name servers may take, and how long a name waits while the system looks up another one. */
  readonly withinMs?: number;
  /** After how long a name server that does not answer is asked again, once. */
  readonly repeatMs?: number;
}

/**
 * Looks up host names that users choose. Node's own `lookup` occupies one of the few threads of the process until the system answers,
 * which takes half a minute if the name server of a domain is silent. Meanwhile every other look-up of the process may wait: for other
 * receivers, PostgreSQL and the store of files. So a name is looked up in the file of hosts, and then by asking the name servers
 * directly, which takes no thread. Only names that they do not know, such as those with a search domain, are left to the system: one at
 * a time, and only if they may lead to the server's own network.
 */
export class HostNames {
  readonly #servers: readonly string[] | undefined;
  readonly #bySystem: (name: string) => Promise<LookupAddress[]>;
  readonly #hasOwnNetworks: boolean;
  readonly #withinMs: number;
  readonly #repeatMs: number;
  readonly #permit = new Semaphore(1);

  constructor({
    hasOwnNetworks,
    servers,
    bySystem = (name) => systemLookup(name, { all: true }),
    withinMs = 6_000,
    repeatMs = 2_000,
  }: HostNamesOptions) {
    this.#hasOwnNetworks = hasOwnNetworks;
    this.#servers = servers;
    this.#bySystem = bySystem;
    this.#withinMs = withinMs;
    this.#repeatMs = repeatMs;
  }

  /** The addresses of a name, at least one. Throws errors with the codes of `node:dns`. */
  async addressesOf(name: string): Promise<readonly LookupAddress[]> {
    const local = await addressesInHosts(name);
    if (local.length > 0) return local;
    try {
      return await this.#byServers(name);
    } catch (error) {
      if (!this.#hasOwnNetworks || !isAbsence(error)) throw error;
    }
    return this.#permit.run(
      () => this.#bySystem(name),
      () => {
        throw new SilentError('The look-ups of other names have not ended in time.');
      },
      { withinMs: this.#withinMs },
    );
  }

  async #byServers(name: string): Promise<readonly LookupAddress[]> {
    // Each look-up has a resolver of its own, so that it can be cancelled alone.
    const resolver = new Resolver({ timeout: this.#repeatMs, tries: 2 });
    if (this.#servers) resolver.setServers(this.#servers);
    const timer = setTimeout(() => resolver.cancel(), this.#withinMs);
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    clearTimeout(timer);
    const addresses = [
      ...(v4.status === 'fulfilled' ? v4.value.map((address) => ({ address, family: 4 })) : []),
      ...(v6.status === 'fulfilled' ? v6.value.map((address) => ({ address, family: 6 })) : []),
    ];
    if (addresses.length > 0) return addresses;
    const reasons: unknown[] = [v4, v6].flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    if (reasons.some(isSilence)) throw new SilentError('The name servers did not answer.');
    throw reasons[0];
  }
}

const systemLookup = promisify(lookupBySystem);

/** Whether the name servers say that there is no such name, or cannot be asked. */
function isAbsence(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOTFOUND' || code === 'ENODATA' || code === 'ECONNREFUSED';
}

function isSilence(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ETIMEOUT' || code === 'ECANCELLED';
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
