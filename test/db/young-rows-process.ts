import { RowClient } from '../../src/db/wire/row-client.ts';
import { TextQuery } from '../../src/db/wire/text-query.ts';
import { oldBytes } from '../support/old-space.ts';

// Runs statements one after the other, without and with a time limit, and prints how many bytes each of them leaves in V8's old space.
// Collections of the old space would hide them, so the process is started with so much memory that there are none.

const statement = {
  text: 'select n, n + 1, n + 2, n + 3 from generate_series(1, 100) n',
  name: 'rows',
  values: [],
};
const warmUps = 2_000;
const runs = 10_000;
const limitMs = 60_000;

const client = new RowClient({ connectionString: process.env['DATABASE_URL'], pipeline: true });
await client.connect();
for (let run = 0; run < warmUps; run += 1) await readRows(run % 2 === 0 ? undefined : limitMs);
console.log(JSON.stringify([await leftBy(undefined), await leftBy(limitMs)]));
await client.end();

async function leftBy(timeoutMs: number | undefined): Promise<number> {
  const before = oldBytes();
  for (let run = 0; run < runs; run += 1) await readRows(timeoutMs);
  return (oldBytes() - before) / runs;
}

async function readRows(timeoutMs: number | undefined): Promise<void> {
  const query = new TextQuery(statement, { types: [23, 23, 23, 23], formats: undefined, bytes: 8_000 });
  const { release } = await query.run(client, timeoutMs);
  release?.();
}
