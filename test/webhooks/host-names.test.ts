import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { HostNames } from '../../src/live/webhooks/host-names.ts';
import { eventually } from '../support/eventually.ts';
import { startNameServer } from './name-server.ts';

const open: { close: () => void }[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

async function openNameServer(entries: Parameters<typeof startNameServer>[0]) {
  const started = await startNameServer(entries);
  open.push(started);
  return started;
}

describe('HostNames', () => {
  it('looks up a name while the look-ups of others are not answered', async () => {
    const silent = Array.from({ length: 20 }, (_, index) => `silent${index}.test`);
    const { server, queriedNames, answerHeld } = await openNameServer({
      ...Object.fromEntries(silent.map((name) => [name, 'held'] as const)),
      'good.test': ['192.0.2.1', '192.0.2.2'],
    });
    const names = new HostNames({ hasOwnNetworks: true, servers: [server] });
    const waiting = Promise.allSettled(silent.map((name) => names.addressesOf(name)));
    await eventually(() => silent.every((name) => queriedNames.has(name)));
    expect(await names.addressesOf('good.test')).toEqual([
      { address: '192.0.2.1', family: 4 },
      { address: '192.0.2.2', family: 4 },
    ]);
    answerHeld();
    await waiting;
  });

  it('gives up on name servers that do not answer', async () => {
    const { server } = await openNameServer({ 'silent.test': 'held' });
    const names = new HostNames({ hasOwnNetworks: true, servers: [server], withinMs: 100 });
    await expect(names.addressesOf('silent.test')).rejects.toMatchObject({ code: 'ETIMEOUT' });
  });

  it('says of a name that is an alias of itself that it has no addresses', async () => {
    const { server } = await openNameServer({ 'loop.test': 'loops' });
    for (const hasOwnNetworks of [true, false]) {
      const names = new HostNames({ hasOwnNetworks, servers: [server] });
      await expect(names.addressesOf('loop.test')).rejects.toMatchObject({ code: 'ENODATA' });
    }
  });

  it('reads the file of hosts before it asks anyone', async () => {
    const { server, queriedNames } = await openNameServer({ localhost: ['192.0.2.1'] });
    const names = new HostNames({ hasOwnNetworks: true, servers: [server] });
    for (const name of ['localhost', 'LOCALHOST.'])
      expect(await names.addressesOf(name)).toContainEqual({ address: '127.0.0.1', family: 4 });
    expect(queriedNames.size).toBe(0);
  });

  describe('with search domains', () => {
    const directory = mkdtempSync(join(tmpdir(), 'workgraph-names-'));
    const resolverFile = join(directory, 'resolv.conf');
    writeFileSync(
      resolverFile,
      'domain old.test\nsearch silent.test corp.test 3.test 4.test 5.test 6.test 7.test # ours\nnameserver 192.0.2.53\n',
    );
    afterAll(() => rmSync(directory, { recursive: true }));

    it('looks in each of them for a name that does not exist without them', async () => {
      const { server, queriedNames } = await openNameServer({
        'receiver.old.test': ['192.0.2.1'],
        'receiver.corp.test': ['192.0.2.9'],
        'late.6.test': ['192.0.2.6'],
        'late.7.test': ['192.0.2.7'],
        'absent.7.test': ['192.0.2.7'],
        'known.test': ['192.0.2.3'],
        'known.test.corp.test': ['192.0.2.4'],
      });
      const names = new HostNames({ hasOwnNetworks: true, servers: [server], resolverFile });
      expect(await names.addressesOf('receiver')).toEqual([{ address: '192.0.2.9', family: 4 }]);
      expect(queriedNames).toContain('receiver.silent.test');
      expect(await names.addressesOf('known.test')).toEqual([{ address: '192.0.2.3', family: 4 }]);
      expect(await names.addressesOf('late')).toEqual([{ address: '192.0.2.6', family: 4 }]);
      await expect(names.addressesOf('absent')).rejects.toMatchObject({ code: 'ENOTFOUND' });
      await expect(names.addressesOf('receiver.')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    });

    it('gives up as soon as for a single name if the name servers do not answer', async () => {
      const { server, queriedNames } = await openNameServer({ 'receiver.silent.test': 'held' });
      const names = new HostNames({ hasOwnNetworks: true, servers: [server], resolverFile, withinMs: 100 });
      await expect(names.addressesOf('receiver')).rejects.toMatchObject({ code: 'ETIMEOUT' });
      expect(queriedNames).not.toContain('receiver.corp.test');
    });

    it('looks for no name in them if webhooks may reach public addresses only, or if the name servers fail', async () => {
      const { server } = await openNameServer({
        'broken.test': 'fails',
        'broken.test.corp.test': ['192.0.2.9'],
        'absent.test.corp.test': ['192.0.2.9'],
      });
      const open = new HostNames({ hasOwnNetworks: false, servers: [server], resolverFile });
      await expect(open.addressesOf('absent.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
      const own = new HostNames({ hasOwnNetworks: true, servers: [server], resolverFile });
      await expect(own.addressesOf('broken.test')).rejects.toMatchObject({ code: 'ESERVFAIL' });
    });
  });
});
