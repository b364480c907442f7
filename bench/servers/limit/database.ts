import pg from 'pg';
import { Callers } from '../caller.ts';

const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: 16,
  application_name: 'limit',
});

export const callers = new Callers(pool);

/** Runs a statement that each connection prepares once under this name. Returns the first row as an array. */
export async function query(name: string, text: string, values: unknown[]): Promise<unknown[] | undefined> {
  const { rows } = await pool.query<unknown[]>({ name, text, values, rowMode: 'array' });
  return rows[0];
}
