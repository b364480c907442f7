import pg from 'pg';
import { Callers } from '../caller.ts';

// Dates and times as texts: the schema's scalars pass them on.
pg.types.setTypeParser(pg.types.builtins.DATE, (text) => text);
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: 16,
  application_name: 'plain',
});

export const callers = new Callers(pool);

/** A row with the names of its columns as SQL has them. */
// eslint-disable-next-line typescript/no-explicit-any -- what a textbook's resolver is given
export type Row = Record<string, any>;

export async function rows(
  text: string,
  values: unknown[],
  client: pg.Pool | pg.PoolClient = pool,
): Promise<Row[]> {
  return (await client.query(text, values)).rows;
}
