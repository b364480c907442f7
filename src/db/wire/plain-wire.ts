import type pg from 'pg';
import { meter } from '../engine/meter.ts';
import { textTypes } from './decoded-types.ts';
import type { PostgresWire } from './postgres-wire.ts';

/** Uses only the public interface of pg: rows are arrays of texts, and a connection runs one statement at a time. */
export const plainWire: PostgresWire = {
  poolOptions: {},
  isPipelined: false,
  cork: () => () => undefined,
  async run(client, { text }, { name, values, timeoutMs }) {
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
  },
};
