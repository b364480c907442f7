import type { PostgresWire } from './postgres-wire.ts';
import { RowClient } from './row-client.ts';
import { streamOf, TextQuery } from './text-query.ts';

/** Reads rows as bytes, and sends statements that do not wait for each other in one round trip. */
export const fastWire: PostgresWire = {
  poolOptions: { Client: RowClient, pipeline: true },
  isPipelined: true,
  async run(client, statement, { name, values, timeoutMs }) {
    const query = new TextQuery({ text: statement.text, name, values }, statement);
    const rows = await query.run(client, timeoutMs);
    statement.recordRows(rows.types, query.bytes);
    return rows;
  },
  cork(client) {
    const stream = streamOf(client);
    stream.cork();
    return () => stream.uncork();
  },
};
