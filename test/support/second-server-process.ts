import { once } from 'node:events';
import { pino } from 'pino';
import { openDatabase } from '../../src/db/engine/engine.ts';
import { startServer } from '../../src/server/server.ts';
import { generousAdmission } from './generous-admission.ts';
import { wire } from './wire.ts';
import './tenant-prover/install.ts';

// A server on the database whose URL is the first argument. It prints its own URL and exits when its standard input closes.
const database = await openDatabase({ url: process.argv[2] ?? '', wire });
const server = await startServer({
  database,
  config: {
    host: '127.0.0.1',
    port: 0,
    publicUrl: undefined,
    explorer: true,
    admission: generousAdmission,
    rates: {
      requestsPerMinute: 1_000_000_000,
      costPerHour: 1_000_000_000,
      unknownTokensPerMinute: 1_000_000_000,
    },
  },
  logger: pino({ level: 'silent' }),
});
process.stdout.write(`${server.url}\n`);
process.stdin.resume();
await once(process.stdin, 'end');
await server.stop();
await database.close();
