import type pg from 'pg';
import type { TextRows } from '../engine/lease.ts';
import { meter } from '../engine/meter.ts';
import { textTypes } from './decoded-types.ts';
import type { PostgresWire, RunOptions } from './postgres-wire.ts';

/** Uses only the public interface of pg: rows are arrays of texts, and a connection runs one statement at a time. */
export const plainWire: PostgresWire = {
  poolOptions: {},
  isPipelined: false,
  run: (client, { text }, options) => runPlainly(client, text, options),
  cork: () => () => undefined,
};

/** Runs a statement whose rows are arrays of texts. The embedded engine runs its prepared statements like this. */
export async function runPlainly(
  client: pg.ClientBase,
  text: string,
  { name, values, timeoutMs }: RunOptions,
): Promise<TextRows> {
  const config: pg.QueryArrayConfig & { query_timeout?: number } = {
    text,
    values,
    rowMode: 'array',
    types: textTypes,
    ...(name !== undefined && { name }),
    ...(timeoutMs !== undefined && { query_timeout: timeoutMs }),
  };
  const { rows, fields } = await client.query<(string | null)[]>(config);
  meter()?.allowance?.spendRows(rows);
  return { rows, types: fields.map(({ dataTypeID }) => dataTypeID) };
}
