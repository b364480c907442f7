import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '../../test/faults/support/client.ts';
import { fill, mountDisk, unmount } from '../../test/faults/support/disk.ts';
import { install } from '../../test/faults/support/tools.ts';
import { type FaultResult, whileWriting } from './faults.ts';
import { Nodes } from './nodes.ts';

const megabytes = 320;
const withinMs = 60_000;

/**
 * Fills the disks of both workers to the last byte while sixteen clients write, and makes room again. Reads go on, writes are
 * refused, and nothing that was acknowledged is lost.
 */
export async function fillDisks(
  folder: string,
  built: string,
  emptyDatabase: (nodes: Nodes) => Promise<string>,
): Promise<FaultResult> {
  const name = 'disks-full';
  if (install(['mount']).length > 0) return { name, words: 'skipped, there is no mount', isSurvived: true };
  const disks: string[] = [];
  const nodes = await Nodes.create(folder, built, (index, disk) => {
    if (index === 0) return;
    mountDisk(disk, megabytes);
    disks.push(disk);
  });
  try {
    const url = await emptyDatabase(nodes);
    return await whileWriting(name, url, folder, async ({ writers, service, world }) => {
      const ballasts = disks.map((disk) => join(disk, 'ballast'));
      const refusals = () => writers.refusals.filter(({ status }) => status === 507 || status === 503).length;
      const until = performance.now() + withinMs;
      const before = refusals();
      // Repeated until a write is refused, because the file system may free a few bytes meanwhile.
      while (refusals() === before && performance.now() < until) {
        for (const ballast of ballasts) fill(ballast);
        await delay(50);
      }
      const failures = refusals() === before ? ['no write was refused'] : [];
      const client = new Client(service.url, world.token);
      let [answered, refused] = [0, 0];
      const readsUntil = performance.now() + withinMs;
      while (answered < 20 && performance.now() < readsUntil) {
        for (const ballast of ballasts) fill(ballast);
        const answer = await client.send({ path: '/v1/issues?page_size=5' }).catch(() => undefined);
        if (answer?.status === 200) answered++;
        // The server may be too busy with the writes, and ask for a retry.
        else if (answer?.status === 503) refused++;
        else failures.push(`a read was answered ${answer?.status ?? 'by nobody'}`);
        await delay(50);
      }
      if (answered < 20) failures.push(`only ${answered} reads were answered`);
      client.close();
      for (const ballast of ballasts) rmSync(ballast);
      // A node that could not write its log has ended; an operator would start it again.
      const ended = nodes.indexes.filter((index) => !nodes.isRunning(index));
      for (const index of ended) nodes.start(index);
      const began = performance.now();
      const isBack = await Promise.race([writers.acknowledgement().then(() => true), delay(withinMs, false)]);
      if (!isBack) throw new Error(`No write was acknowledged within ${withinMs} ms: ${service.logTail()}`);
      return {
        words:
          `${answered} reads answered meanwhile, ${refused} told to come again; ${ended.length} nodes had to be started again; ` +
          `acknowledged again after ${Math.round(performance.now() - began)} ms`,
        failures,
      };
    });
  } finally {
    nodes.stop();
    for (const disk of disks) unmount(disk);
  }
}
