import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StatementTarget } from '../../src/db/engine/statement-target.ts';
import { SerialQueue } from '../../src/resolvers/writes/serial-queue.ts';
import { batched } from '../../src/resolvers/writes/write-batcher.ts';
import { oldBytes } from '../support/old-space.ts';

// Sends items in batches, as concurrent requests do, and prints how many bytes each of them leaves in V8's old space. Collections of the old
// space would hide them, so the process is started with so much memory that there are none.

const clients = 16;
const warmUps = 500;
const runs = 2_500;

const send = batched(new SerialQueue());
// The items of this process are not sent to a database.
const to = {} as StatementTarget;
let count = 0;

await writeAll(warmUps);
// What the server keeps for long is in the old space by now.
globalThis.gc?.();
const before = oldBytes();
await writeAll(runs);
console.log((oldBytes() - before) / (runs * clients));

/** Each client writes one item after the other, so that there are always some that have not been written. */
async function writeAll(times: number): Promise<void> {
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let turns = client; turns > 0; turns -= 1) await nextTurn();
      for (let time = 0; time < times; time += 1) await writeOne();
    }),
  );
}

async function writeOne(): Promise<void> {
  const item = { values: payload() };
  const row = await send(to, {
    item,
    send: sendItems,
    serialKey: `issue ${(count += 1)}`,
    batchKey: 'change',
  });
  if (!row) throw new Error('Not written.');
}

async function sendItems(_to: StatementTarget, items: readonly { values: unknown }[]) {
  await nextTurn();
  return items.map(({ values }) => ({ values, more: payload() }));
}

/** Objects of some 10,000 bytes. */
function payload(): { index: number; text: string }[] {
  return Array.from({ length: 200 }, (_, index) => ({ index, text: `${index}` }));
}
