import { setTimeout as delay } from 'node:timers/promises';
import { ms } from '../../test/faults/support/fault.ts';
import { OwnWrites } from '../../test/faults/support/own-writes.ts';
import { Proxy } from '../../test/faults/support/proxy.ts';
import { readsOf } from '../../test/faults/support/replica-reads.ts';
import { addWorkspace, withDatabase, type World } from '../../test/faults/support/world.ts';
import { type FaultResult, whileWriting } from './faults.ts';
import { Nodes } from './nodes.ts';

const ownWriters = 4;

/**
 * Crashes the coordinator and then the worker with the rows, and promotes the standby of each, under clients that write and clients
 * that read their writes back. The coordinator's standby serves queries until then.
 */
export async function promoteNodes(
  folder: string,
  built: string,
  emptyDatabase: (nodes: Nodes) => Promise<string>,
): Promise<FaultResult> {
  const nodes = await Nodes.create(folder, built);
  const proxy = await Proxy.before(addressOf(nodes.portOf(0)));
  try {
    const created = new URL(await emptyDatabase(nodes));
    const database = created.pathname.slice(1);
    const standbys = [];
    for (const index of nodes.indexes) standbys.push(await nodes.addStandby(index));
    const [ofCoordinator, ...ofWorkers] = standbys;
    const url = new URL(created);
    url.port = String(proxy.port);
    const env = { READ_DATABASE_URLS: ofCoordinator?.url(database) ?? '' };
    return await whileWriting(
      'nodes-promoted',
      url.href,
      folder,
      async ({ service, world, writers }) => {
        while ((await readsOf(service)).serves !== 1) await delay(20);
        const holderOf = ({ workspaceId }: World) => nodes.holderOf(created.href, workspaceId);
        const holder = await holderOf(world);
        // The ledger knows every issue of the other workspace.
        let second = await withDatabase({ url: url.href }, addWorkspace);
        while ((await holderOf(second)) !== holder)
          second = await withDatabase({ url: url.href }, addWorkspace);
        const own = new OwnWrites(service.url, second, ownWriters);
        const returns: string[] = [];
        for (const standby of [ofCoordinator, ofWorkers[holder - 1]]) {
          if (!standby) continue;
          const done = own.acknowledged + 2 * ownWriters;
          while (own.acknowledged < done) await delay(20);
          const began = performance.now();
          await nodes.promote(standby, database, (port) => proxy.leadTo(addressOf(port)));
          const back = own.acknowledged + 2 * ownWriters;
          await writers.acknowledgement();
          while (own.acknowledged < back) await delay(20);
          const which = standby.of === 0 ? 'the coordinator' : 'the worker with the rows';
          returns.push(`${ms(performance.now() - began)} after the death of ${which}`);
        }
        await own.stop();
        return {
          words: `${own.reads} reads of own writes, ${own.wrong.length} wrong; acknowledged again ${returns.join(', ')}`,
          failures: own.wrong,
        };
      },
      env,
    );
  } finally {
    proxy.close();
    nodes.stop();
  }
}

function addressOf(port: number): { host: string; port: number } {
  return { host: '127.0.0.1', port };
}
