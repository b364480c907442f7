import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from './support/client.ts';
import { runFault } from './support/fault.ts';
import { Ledger } from './support/ledger.ts';
import { residentMb } from './support/memory.ts';
import { checkWrites, serverOnPostgres } from './support/scene.ts';
import { Writers } from './support/writers.ts';

const load = 0.7;
const samples = 60;

// Readers at 70 % of the server's maximum throughput, and two writers, for half an hour.
await runFault(import.meta.filename, {
  fault: '30 minutes at 70 %',
  pass: 'memory and handles flat',
  amount: { unit: 's', short: 10, long: 1_800 },
  run: async (trial) => {
    const { location, world, service } = await serverOnPostgres(trial);
    const ledger = new Ledger();
    const writers = new Writers({ url: service.url, world, ledger, count: 2 });
    const client = new Client(service.url, world.token, 16);
    const read = () => client.send({ path: '/v1/issues?page_size=20' });
    const perSecond = load * (await maxThroughput(read, trial.isShort ? 3_000 : 20_000));
    const began = performance.now();
    const everyMs = (trial.amount * 1_000) / samples;
    const memory: number[] = [];
    const handles: number[] = [];
    let [sent, inProgress] = [0, 0];
    /** By status: 0 when the connection broke. */
    const failures = new Map<number, number>();
    for (let nextSampleMs = 0; ; ) {
      const elapsed = performance.now() - began;
      if (elapsed > trial.amount * 1_000) break;
      if (elapsed >= nextSampleMs) {
        memory.push(residentMb(service.pid));
        handles.push(readdirSync(`/proc/${service.pid}/fd`).length);
        nextSampleMs += everyMs;
      }
      for (; sent < (elapsed / 1_000) * perSecond && inProgress < 64; sent++) {
        inProgress++;
        void read()
          .then(({ status }) => status)
          .catch(() => 0)
          .then((status) => {
            inProgress--;
            if (status !== 200) failures.set(status, (failures.get(status) ?? 0) + 1);
          });
      }
      await delay(5);
    }
    await writers.stop();
    client.close();
    const { wrong } = await checkWrites(trial, location, writers);
    // The first third is the warm-up, in which caches and the heap reach their size.
    const third = Math.floor(samples / 3);
    const [middleMb, lastMb] = [median(memory.slice(third, 2 * third)), median(memory.slice(2 * third))];
    const [middleHandles, lastHandles] = [
      median(handles.slice(third, 2 * third)),
      median(handles.slice(2 * third)),
    ];
    trial.must(service.isRunning, `the server ended: ${service.logTail()}`);
    const failed = [...failures].map(([status, count]) => `${count} × ${status}`).join(', ');
    trial.must(failures.size === 0, `reads failed: ${failed}`);
    trial.must(lastHandles <= middleHandles + 10, `handles went from ${middleHandles} to ${lastHandles}`);
    trial.figure(lastMb <= 1.1 * middleMb, `memory went from ${middleMb} MB to ${lastMb} MB`);
    return (
      `${perSecond.toFixed(0)} reads a second and ${ledger.acknowledged} writes, ${failed || '0'} failed; ` +
      `median of the second and of the last third: memory ${middleMb} and ${lastMb} MB, handles ${middleHandles} and ${lastHandles}; ` +
      `${wrong} lost, doubled or broken`
    );
  },
});

/** How many requests a second sixteen clients complete that each wait for their answers. */
async function maxThroughput(read: () => Promise<unknown>, forMs: number): Promise<number> {
  const began = performance.now();
  let done = 0;
  const one = async () => {
    for (; performance.now() - began < forMs; done++) await read();
  };
  await Promise.all(Array.from({ length: 16 }, one));
  return done / ((performance.now() - began) / 1_000);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
