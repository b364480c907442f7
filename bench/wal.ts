import pg from 'pg';
import { previous, product } from './contenders/product.ts';
import { token } from './dataset/fill.ts';
import { type Facts, readFacts } from './facts.ts';
import { Connection, type Request } from './http/connection.ts';
import { refuseFailure } from './load.ts';
import { start } from './process.ts';
import { Random } from './random.ts';
import type { Input } from './workloads/workload.ts';
import { commentOn, issueIn } from './workloads/writes.ts';

/** A kind of write: its mutation, and the input of the nth. */
interface Write {
  readonly title: string;
  readonly mutation: string;
  readonly input: (nth: number, facts: Facts) => Input;
}

/** What one write adds to the write-ahead log, on average. */
interface LoggedBytes {
  readonly records: number;
  readonly bytes: number;
  readonly indexBytes: number;
}

/** How many writes of each kind are measured. */
const writeCount = 400;

const change = (title: string, columns: (nth: number, facts: Facts) => Input): Write => ({
  title,
  mutation: 'issueUpdate',
  input: (nth, facts) => ({ key: keyOf(nth, facts), ...columns(nth, facts) }),
});

const writes: readonly Write[] = [
  {
    title: 'comment',
    mutation: 'commentCreate',
    input: (nth, facts) => commentOn(new Random(nth), keyOf(nth, facts)),
  },
  change('status', (nth, facts) => {
    const team = facts.writeTeams.find(({ code }) => keyOf(nth, facts).startsWith(`${code}-`));
    return { statusId: new Random(nth).pick(team?.openStatusIds ?? []) };
  }),
  change('priority', (nth) => ({ priority: new Random(nth).pick(['URGENT', 'HIGH', 'MEDIUM', 'LOW']) })),
  change('estimate', (nth) => ({ estimateValue: 100 + nth })),
  change('title', (nth) => ({ title: `Changed by the benchmark, number ${nth}` })),
  {
    title: 'new issue',
    mutation: 'issueCreate',
    input: (nth, { writeTeams }) => {
      const random = new Random(nth);
      return issueIn(random, random.pick(writeTeams));
    },
  },
];

/**
 * Measures what each kind of write adds to the write-ahead log: by the earlier checkout, if one takes part, and by this one, each on
 * the database that `urlOf` gives for its name. Writes are sent one at a time, each to another issue.
 */
export async function measureLog(
  urlOf: (name: string) => string,
  say: (line: string) => void,
): Promise<void> {
  for (const contender of [...previous, product]) {
    const url = urlOf(contender.name);
    const facts = await readFacts(url);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('create extension if not exists pg_walinspect');
    // After a checkpoint, the first change of a page would log all of it, whatever was changed.
    await configure(client, ['set full_page_writes = off', 'set autovacuum = off']);
    const running = await start(contender, url);
    const connection = await Connection.open(running.port);
    try {
      for (const write of writes) {
        const { records, bytes, indexBytes } = await bytesLoggedBy(client, async () => {
          for (let nth = 0; nth < writeCount; nth += 1) {
            const request = mutation(write, write.input(nth, facts));
            refuseFailure(request, await connection.send(request));
          }
        });
        say(
          `  ${contender.name.padEnd(8)} ${write.title.padEnd(10)} ${records.toFixed(1).padStart(5)} records ` +
            `${bytes.toFixed(0).padStart(6)} bytes, of them ${indexBytes.toFixed(0).padStart(5)} of indexes`,
        );
      }
    } finally {
      connection.close();
      await running.stop();
      await configure(client, ['reset full_page_writes', 'reset autovacuum']);
      await client.end();
    }
  }
}

/** What the work adds to the write-ahead log, for one write on average. */
async function bytesLoggedBy(client: pg.Client, work: () => Promise<void>): Promise<LoggedBytes> {
  const position = async () =>
    (await client.query('select pg_current_wal_flush_lsn()::text as at')).rows[0].at;
  const from = await position();
  await work();
  const { rows } = await client.query(
    `select "resource_manager/record_type" as kind, count, combined_size from pg_get_wal_stats($1, $2)`,
    [from, await position()],
  );
  const sum = (
    of: (row: { count: string; combined_size: string }) => string,
    kinds: readonly string[] = [],
  ) =>
    rows
      .filter(({ kind }) => kinds.length === 0 || kinds.includes(kind))
      .reduce((total, row) => total + Number(of(row)), 0) / writeCount;
  return {
    records: sum(({ count }) => count),
    bytes: sum(({ combined_size: size }) => size),
    indexBytes: sum(({ combined_size: size }) => size, ['Btree', 'Gin']),
  };
}

async function configure(client: pg.Client, settings: readonly string[]): Promise<void> {
  for (const setting of settings) await client.query(`alter system ${setting}`);
  await client.query('select pg_reload_conf()');
}

function mutation({ mutation: name }: Write, input: Input): Request {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`;
  return {
    method: 'POST',
    path: '/graphql',
    headers: { Authorization: `Bearer ${token}` },
    body: JSON.stringify({
      query: `mutation ($input: ${type}!) { ${name}(input: $input) { __typename } }`,
      variables: { input },
    }),
  };
}

/** The nth of the issues that writes change; each has another place in the tables. */
function keyOf(nth: number, { writeKeys }: Facts): string {
  const key = writeKeys[nth % writeKeys.length];
  if (key === undefined) throw new Error('There are no issues to write to.');
  return key;
}
