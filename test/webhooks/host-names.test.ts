import type { LookupAddress } from 'node:dns';
import { afterEach, describe, expect, it } from '@jest/globals';
import { HostNames } from '../../src/live/webhooks/host-names.ts';
import { eventually } from '../support/eventually.ts';
import { startNameServer } from './name-server.ts';

const open: { close: () => void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

async function nameServer(entries: Parameters<typeof startNameServer>[0]) {
  const started = await startNameServer(entries);
  open.push(started);
  return started;
}

const unexpected = async (name: string): Promise<LookupAddress[]> => {
  throw new Error(`The system was asked for ${name}.`);
};

describe('HostNames', () => {
  it('looks up names while others are not answered', async () => {
    const silent = Array.from({ length: 20 }, (_, index) => `silent${index}.test`);
    const { server, asked, answerHeld } = await nameServer({
      ...Object.fromEntries(silent.map((name) => [name, 'held'] as const)),
      'good.test': ['192.0.2.1', '192.0.2.2'],
    });
    const names = new HostNames({ hasOwnNetworks: true, servers: [server], bySystem: async () => [] });
    const waiting = Promise.all(silent.map((name) => names.addressesOf(name)));
    await eventually(() => silent.every((name) => asked.has(name)));
    expect(await names.addressesOf('good.test')).toEqual([
      { address: '192.0.2.1', family: 4 },
      { address: '192.0.2.2', family: 4 },
    ]);
    answerHeld();
    await waiting;
  });

  it('gives up on name servers that do not answer, without asking the system', async () => {
    const { server } = await nameServer({ 'silent.test': 'held' });
    const names = new HostNames({
      hasOwnNetworks: true,
      servers: [server],
      bySystem: unexpected,
      withinMs: 100,
    });
    await expect(names.addressesOf('silent.test')).rejects.toMatchObject({ code: 'ETIMEOUT' });
  });

  it('reads the file of hosts before it asks anyone', async () => {
    const { server, asked } = await nameServer({ localhost: ['192.0.2.1'] });
    const names = new HostNames({ hasOwnNetworks: true, servers: [server], bySystem: unexpected });
    for (const name of ['localhost', 'LOCALHOST.'])
      expect(await names.addressesOf(name)).toContainEqual({ address: '127.0.0.1', family: 4 });
    expect(asked.size).toBe(0);
  });

  it('leaves names that the name servers do not know to the system, one at a time', async () => {
    const { server } = await nameServer({});
    const held = Promise.withResolvers<LookupAddress[]>();
    const lookedUp: string[] = [];
    const names = new HostNames({
      hasOwnNetworks: true,
      servers: [server],
      withinMs: 200,
      bySystem: async (name) => {
        lookedUp.push(name);
        return name === 'first' ? held.promise : [{ address: '192.0.2.9', family: 4 }];
      },
    });
    const first = names.addressesOf('first');
    await eventually(() => lookedUp.length === 1);
    await expect(names.addressesOf('second')).rejects.toMatchObject({ code: 'ETIMEOUT' });
    expect(lookedUp).toEqual(['first']);
    held.resolve([{ address: '192.0.2.8', family: 4 }]);
    expect(await first).toEqual([{ address: '192.0.2.8', family: 4 }]);
    expect(await names.addressesOf('third')).toEqual([{ address: '192.0.2.9', family: 4 }]);
  });

  it('leaves no name to the system that may lead to public addresses only, or whose servers fail', async () => {
    const { server } = await nameServer({ 'broken.test': 'fails' });
    const options = { servers: [server], bySystem: unexpected };
    const open = new HostNames({ hasOwnNetworks: false, ...options });
    await expect(open.addressesOf('absent.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    const own = new HostNames({ hasOwnNetworks: true, ...options });
    await expect(own.addressesOf('broken.test')).rejects.toMatchObject({ code: 'ESERVFAIL' });
  });
});
