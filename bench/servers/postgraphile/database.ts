import pg from 'pg';
import { Callers } from '../caller.ts';

export const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: 16,
  application_name: 'postgraphile',
});

export const callers = new Callers(pool);
