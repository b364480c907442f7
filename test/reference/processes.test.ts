import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { leaseMs } from '../../src/reference/memory.ts';
import type { App } from '../support/app.ts';
import { randomOf } from '../support/samples.ts';
import { type SecondServer, startSecondServer } from '../support/server-processes.ts';
import { hasServer, urlOf } from '../db/engines.ts';

// Another process writes at random moments, and sends no signal to the two servers. `SECONDS=60` makes a long run.
const seconds = Number(process.env.SECONDS ?? 3);
const onPostgres = hasServer ? describe : describe.skip;

let app: App;
let second: SecondServer;
let writer: pg.Client;

onPostgres('with another process that writes reference data', () => {
  beforeAll(async () => {
    const { startApp } = await import('../support/app.ts');
    app = await startApp({ demo: true });
    const started = await startSecondServer(app);
    if (!started) throw new Error('This engine permits no second server.');
    second = started;
    writer = new pg.Client({ connectionString: await urlOf(app.database) });
    await writer.connect();
  });
  afterAll(async () => {
    await writer.end();
    await second.stop();
    await app.stop();
  });

  it(
    `answers are never older than ${leaseMs} ms, nor than what the reader has seen`,
    async () => {
      const until = performance.now() + seconds * 1_000;
      const over = () => performance.now() > until;
      /** The time at which each numbered write was committed. */
      const committedMs: number[] = [];
      const random = randomOf('processes');
      const writing = async () => {
        for (let number = 1; !over(); number += 1) {
          await writer.query('begin');
          await writer.query("update team set name = $1 where code = 'WEB'", [`name ${number}`]);
          // Some transactions are slow: their version is counted at their end.
          if (number % 20 === 0) await writer.query('select pg_sleep(0.05)');
          await writer.query('commit');
          committedMs[number] = performance.now();
          await new Promise((resolve) => setTimeout(resolve, random.fraction() * 30));
        }
      };
      const newestBefore = (time: number) =>
        committedMs.findLastIndex((at) => at !== undefined && at <= time);
      const problems: string[] = [];
      let read = 0;
      let seen = { number: 0, version: '' };
      const reading = async (server: Pick<App, 'graphql'>, remembers: boolean) => {
        while (!over()) {
          const askedMs = performance.now();
          const known = seen;
          const headers: Record<string, string> =
            remembers && known.version ? { 'X-Workspace-Version': known.version } : {};
          const answer = await server.graphql<{ team: { name: string } }>(
            '{ team(code: "WEB") { name } }',
            {},
            { token: app.token, headers },
          );
          const number = Number(/^name (\d+)$/.exec(answer.body.data?.team.name ?? '')?.[1] ?? 0);
          read += 1;
          if (answer.body.errors) problems.push(JSON.stringify(answer.body.errors));
          const bound = newestBefore(askedMs - leaseMs);
          if (number < bound) problems.push(`read ${number} when ${bound} was older than the lease`);
          if (remembers && number < known.number) problems.push(`read ${number} after ${known.number}`);
          if (number > seen.number)
            seen = { number, version: answer.headers.get('x-workspace-version') ?? '' };
        }
      };
      await Promise.all([
        writing(),
        ...[app, second].flatMap((each) => [reading(each, true), reading(each, false)]),
      ]);
      expect(problems.slice(0, 5)).toEqual([]);
      expect([committedMs.length > 20, read > 50]).toEqual([true, true]);
    },
    seconds * 1_000 + 30_000,
  );

  it('a revoked token is refused by the other process within the lease', async () => {
    const token = await app.tokenFor({ scopes: ['teams:read'] });
    const ask = () => second.graphql('{ teams { nodes { code } } }', {}, { token });
    expect((await ask()).status).toBe(200);
    await writer.query('update access_token set revoked_utc = now() where scopes = $1', [['teams:read']]);
    const revokedMs = performance.now();
    let lastMs = revokedMs;
    for (;;) {
      const askedMs = performance.now();
      if ((await ask()).status === 401) break;
      lastMs = askedMs;
    }
    expect(lastMs - revokedMs).toBeLessThan(leaseMs);
  });
});
