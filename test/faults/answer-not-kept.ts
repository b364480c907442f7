import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type ClientRequest, Client } from './support/client.ts';
import type { Cluster } from './support/cluster.ts';
import { ms, quantile, runFault } from './support/fault.ts';
import { onPostgres, startService } from './support/scene.ts';

// The server is killed after the statement of a keyed write, before the one that adds the answer. A trigger holds up the latter.
const lock = 47;

await runFault(import.meta.filename, {
  fault: '`kill -9` of the server between the write under an `Idempotency-Key` and the keeping of its answer',
  pass: 'repeated, each write is answered from its row, once and as before; 0 written twice',
  amount: { unit: 'rounds', short: 6, long: 100 },
  run: async (trial) => {
    const { cluster, world } = await onPostgres(trial);
    await cluster.query(`create function hold_up() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock(${lock}); return new; end $$`);
    await cluster.query(
      'create trigger hold_up before update on idempotency_key for each row execute function hold_up()',
    );
    const service = await startService(trial, { databaseUrl: cluster.url });
    const client = new Client(service.url, world.token);
    const made = await client.send(newIssue(world.teamId, randomUUID()));
    const { key: issueKey } = JSON.parse(made.body) as { key: string };
    const returns: number[] = [];
    for (let round = 0; round < trial.amount; round++) {
      const key = randomUUID();
      const write = writeOf(round, { teamId: world.teamId, issueKey, key });
      const [countBefore, held] = [await rows(cluster), await holdUp(cluster)];
      const cut = client.send(write).catch(() => 'cut off');
      while (!(await isWritten(cluster, key))) await delay(5);
      await service.end('SIGKILL');
      trial.must((await cut) === 'cut off', 'a killed server answered');
      await held.release();
      const began = performance.now();
      await service.start();
      const answers = [await client.send(write), await client.send(write)];
      returns.push(performance.now() - began);
      const [first, second] = answers;
      for (const { status, headers, body } of answers)
        trial.must(
          status < 300 && headers['idempotency-replayed'] === 'true',
          `round ${round} was answered ${status}: ${body}`,
        );
      trial.must(first?.body === second?.body, `the answers differ: ${first?.body} and ${second?.body}`);
      const written = (await rows(cluster)) - countBefore;
      trial.must(written === (round % 3 === 1 ? 0 : 1), `round ${round} wrote ${written} times`);
    }
    client.close();
    return `0 written twice, each answered from its row; answered after p50 ${ms(quantile(returns, 0.5))} with the start`;
  },
});

/** Creates an issue, changes one and adds a comment, in turn. */
function writeOf(round: number, at: { teamId: string; issueKey: string; key: string }): ClientRequest {
  const { teamId, issueKey, key } = at;
  const headers = { 'Idempotency-Key': key };
  const path = `/v1/issues/${issueKey}`;
  if (round % 3 === 0) return newIssue(teamId, key);
  if (round % 3 === 1) return { method: 'PATCH', path, body: { title: `Round ${round}` }, headers };
  return { method: 'POST', path: `${path}/comments`, body: { body: `Round ${round}` }, headers };
}

function newIssue(teamId: string, key: string): ClientRequest {
  const body = { teamId, title: `Issue ${key}`, description: '', priority: 0 };
  return { method: 'POST', path: '/v1/issues', body, headers: { 'Idempotency-Key': key } };
}

async function isWritten(cluster: Cluster, key: string): Promise<boolean> {
  const found = await cluster.query('select key from idempotency_key where key = $1 and result is null', [
    key,
  ]);
  return found.length > 0;
}

/** The numbers of issues and comments. */
async function rows(cluster: Cluster): Promise<number> {
  const [row] = await cluster.query<{ count: number }>(
    'select ((select count(*) from issue) + (select count(*) from comment))::int as count',
  );
  return row?.count ?? 0;
}

/**
 * Delays the statement that stores an answer, at whichever node has the row. Answers that still wait when the server is killed are
 * lost.
 */
async function holdUp(cluster: Cluster): Promise<{ release: () => Promise<void> }> {
  const nodes = await cluster.nodes();
  const holders = await Promise.all(nodes.map((node) => node.connect()));
  for (const holder of holders) await holder.query('select pg_advisory_lock($1)', [lock]);
  const release = async () => {
    for (const holder of holders) {
      await holder.query(
        `select pg_terminate_backend(pid, 5000) from pg_locks where locktype = 'advisory' and objid = $1 and not granted`,
        [lock],
      );
      await holder.end();
    }
  };
  return { release };
}
