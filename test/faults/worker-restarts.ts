import { runFault } from './support/fault.ts';
import { Ledger } from './support/ledger.ts';
import { Readers } from './support/readers.ts';
import { judgeRefusals } from './support/refusals.ts';
import { checkWrites, serverOnPostgres } from './support/scene.ts';
import { untilReplaced, untilWorkers, workersOf } from './support/workers.ts';
import { Writers } from './support/writers.ts';

// A server with two workers is signalled again and again to replace them, with no proxy between it and its clients. Each worker has
// the limits of a single process, because the kernel may assign all connections to one of them.
await runFault(import.meta.filename, {
  fault: 'SIGHUP under load: `WORKERS=2` replaces both workers, no proxy before them',
  pass: '0 failed requests',
  amount: { unit: 'rolling restarts', short: 3, long: 50 },
  run: async (trial) => {
    const { service, location, world } = await serverOnPostgres(trial, {
      WORKERS: '2',
      POOL_SIZE: '20',
      MAX_CONCURRENCY: '32',
    });
    const ledger = new Ledger();
    await untilWorkers(service, 2);
    const writers = new Writers({ url: service.url, world, ledger, count: 4 });
    const reading = new Readers(service.url, world.token, 4);
    for (let round = 0; round < trial.amount; round++) {
      await writers.acknowledgement();
      const old = workersOf(service.pid);
      process.kill(service.pid, 'SIGHUP');
      await untilReplaced(() => workersOf(service.pid), old);
    }
    await reading.stop();
    await writers.stop();
    const failed = [...writers.refusals, ...reading.refusals];
    judgeRefusals(trial, failed);
    trial.must((await service.end()) === 0, `the server did not end with 0: ${service.logTail()}`);
    const { wrong } = await checkWrites(trial, location, writers);
    return `${ledger.acknowledged} writes and ${reading.done} reads, ${failed.length} failed; ${wrong} lost, doubled or broken`;
  },
});
