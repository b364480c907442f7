import { once } from 'node:events';
import { ServerResponse } from 'node:http';
import { pino } from 'pino';
import { openDatabase } from '../../src/db/engine/engine.ts';
import { readConfig } from '../../src/server/config.ts';
import { startServer } from '../../src/server/server.ts';
import { generousAdmission } from './generous-admission.ts';
import { wire } from './wire.ts';
import './tenant-prover/install.ts';

// A server whose arguments are the location of its database, a directory or a URL, and its settings. It prints its own URL and
// exits when its standard input closes. A request with the header `X-Die` kills it just before the response is sent.
const prototype = ServerResponse.prototype as { end: (...args: unknown[]) => ServerResponse };
const { end: plain } = prototype;
prototype.end = function (this: ServerResponse, ...args: unknown[]) {
  if (this.req.headers['x-die']) process.kill(process.pid, 'SIGKILL');
  return plain.apply(this, args);
};

const [, , location = '', settings = '{}'] = process.argv;
const database = await openDatabase(
  location.startsWith('postgres') ? { url: location, wire } : { dataDir: location, wire },
);
const config = readConfig({ PORT: '0', ...(JSON.parse(settings) as Record<string, string>) }, {});
const unlimited = 1_000_000_000;
const server = await startServer({
  database,
  config: {
    ...config,
    admission: generousAdmission,
    rates: { requestsPerMinute: unlimited, costPerHour: unlimited, unknownTokensPerMinute: unlimited },
  },
  logger: pino({ level: 'silent' }),
});
process.stdout.write(`${server.url}\n`);
process.stdin.resume();
await once(process.stdin, 'end');
await server.stop();
await database.close();
