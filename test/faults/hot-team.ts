import { randomUUID } from 'node:crypto';
import { Client } from './support/client.ts';
import { ms, quantile, runFault } from './support/fault.ts';
import { onPostgres, startService } from './support/scene.ts';

/** The number of clients that create issues at once. */
const clients = 24;

// All issues are of one team, so all writes lock the same counter. Each is sent to two servers at once, and then to the third.
await runFault(import.meta.filename, {
  fault:
    'one hot team: three servers, 24 clients, each creation sent under one `Idempotency-Key` to two servers at once and then to the third',
  pass: '0 × 503; each issue created once, numbers without gaps, each replay the same',
  amount: { unit: 'creations, sent twice each', short: 60, long: 300 },
  run: async (trial) => {
    const { cluster, world } = await onPostgres(trial);
    const servers = await Promise.all(
      [0, 1, 2].map(async () => {
        const service = await startService(trial, { databaseUrl: cluster.url });
        return new Client(service.url, world.token, 2 * clients);
      }),
    );
    const create = (server: number, key: string) =>
      (servers[server % 3] as Client).send({
        method: 'POST',
        path: '/v1/issues',
        body: { teamId: world.teamId, title: `Issue ${key}`, description: '', priority: 0 },
        headers: { 'Idempotency-Key': key },
      });
    const times: number[] = [];
    const statuses = new Map<number, number>();
    let next = 0;
    const began = performance.now();
    await Promise.all(
      Array.from({ length: clients }, async () => {
        for (let index = next++; index < trial.amount; index = next++) {
          const key = randomUUID();
          const both = await Promise.all([create(index, key), create(index + 1, key)]);
          for (const answer of both) {
            times.push(answer.ms);
            statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          }
          const third = await create(index + 2, key);
          trial.must(third.status === 201, `a repetition was answered ${third.status}: ${third.body}`);
          for (const { status, body } of both)
            trial.must(
              status !== 201 || body === third.body,
              `two answers differ: ${body} and ${third.body}`,
            );
        }
      }),
    );
    const seconds = (performance.now() - began) / 1_000;
    for (const client of servers) client.close();
    const [found] = await cluster.query<{ count: number; highest: number; titles: number }>(
      'select count(*)::int as count, max(number) as highest, count(distinct title)::int as titles from issue',
    );
    const { amount } = trial;
    trial.must(
      found?.count === amount && found.titles === amount && found.highest === amount,
      `there are ${JSON.stringify(found)} instead of ${amount} issues`,
    );
    const refused = statuses.get(503) ?? 0;
    trial.figure(refused === 0, `${refused} × 503`);
    const answers = [...statuses].map(([status, count]) => `${count} × ${status}`).toSorted();
    return (
      `in ${seconds.toFixed(1)} s; first answers ${answers.join(', ')}, after p50 ${ms(quantile(times, 0.5))}, ` +
      `at most ${ms(Math.max(...times))}; ${found?.count} issues, ${found?.highest} the highest number`
    );
  },
});
