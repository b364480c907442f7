import pg from 'pg';
import { Callers } from '../caller.ts';

// Dates and times are read as texts, which the schema's scalars pass on.
pg.types.setTypeParser(pg.types.builtins.DATE, (text) => text);
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: 16,
  application_name: 'plain',
});

export const callers = new Callers(pool);

/** A row with the column names of SQL. */
// eslint-disable-next-line typescript/no-explicit-any -- untyped rows, as usual in such resolvers
export type Row = Record<string, any>;

export async function rows(
  text: string,
  values: unknown[],
  client: pg.Pool | pg.PoolClient = pool,
): Promise<Row[]> {
  return (await client.query(text, values)).rows;
}
