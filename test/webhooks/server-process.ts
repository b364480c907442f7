import { once } from 'node:events';
import { pino } from 'pino';
import { openDatabase } from '../../src/db/engine/engine.ts';
import { readConfig } from '../../src/server/config.ts';
import { startServer } from '../../src/server/server.ts';
import { wire } from '../support/wire.ts';

// A server whose arguments are the location of its database and its settings. It prints its URL, and exits when its
// standard input closes.
const [, , location = '', settings = '{}'] = process.argv;
const database = await openDatabase(
  location.startsWith('postgres') ? { url: location, wire } : { dataDir: location, wire },
);
const config = readConfig({ PORT: '0', ...(JSON.parse(settings) as Record<string, string>) }, {});
const server = await startServer({ database, config, logger: pino({ level: 'silent' }) });
process.stdout.write(`${server.url}\n`);
process.stdin.resume();
await once(process.stdin, 'end');
await server.stop();
await database.close();
