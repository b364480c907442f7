import type { WireName } from '../../src/db/wire/postgres-wire.ts';
import { readConfig } from '../../src/server/config.ts';

/** The wire that this run of the tests uses on PostgreSQL: `WIRE=plain npm test`. */
export const wire: WireName = readConfig({ WIRE: process.env.WIRE }, {}).wire;
