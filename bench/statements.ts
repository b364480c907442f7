import pg from 'pg';
import { connections, nextRequests, refuseFailure } from './load.ts';
import { Connection } from './http/connection.ts';
import type { Facts } from './facts.ts';
import type { RunningContender } from './process.ts';
import type { Workload } from './workloads/workload.ts';

/** How many requests are sent while statements are counted. */
const requestCount = 20;
// pg_stat_statements takes a moment to use reloaded settings.
const waitForReload = 'select pg_sleep(0.2)';

/**
 * Counts the SQL statements of requests that are sent one after the other. Not available without pg_stat_statements.
 */
export class StatementCounter {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async open(url: string): Promise<StatementCounter | undefined> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query('create extension if not exists pg_stat_statements');
      await client.query('select count(*) from pg_stat_statements');
      await client.query(`alter system set pg_stat_statements.track = 'none'`);
      return new StatementCounter(client);
    } catch {
      await client.end();
      return undefined;
    }
  }

  /** The number of statements per request, including `begin` and `commit`. What is written depends on `values`. */
  async count(running: RunningContender, workload: Workload, facts: Facts, values: number): Promise<number> {
    await this.#track('top');
    const connection = await Connection.open(running.port);
    try {
      const next = nextRequests(running, workload, facts, { rows: 7 * connections, values });
      await this.#client.query('select pg_stat_statements_reset()');
      for (let request = 0; request < requestCount; request += 1) {
        const sent = next();
        refuseFailure(sent, await connection.send(sent));
      }
      const { rows } = await this.#client.query<{ calls: string }>(`
        select coalesce(sum(calls), 0) as calls from pg_stat_statements
        where dbid = any(select oid from pg_database where datname in (current_database(), current_database() || '_before'))
          and query not like '%pg_stat_statements%' and query not like '%pg_reload_conf%'`);
      return Number(rows[0]?.calls) / requestCount;
    } finally {
      connection.close();
      await this.#track('none');
    }
  }

  async #track(what: 'top' | 'none'): Promise<void> {
    await this.#client.query(`alter system set pg_stat_statements.track = '${what}'`);
    await this.#client.query('select pg_reload_conf()');
    await this.#client.query(waitForReload);
  }

  close(): Promise<void> {
    return this.#client.end();
  }
}
