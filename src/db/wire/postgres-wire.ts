import type pg from 'pg';
import type { TextRows } from '../engine/borrowed-connection.ts';
import type { Prepared } from '../statements/prepared.ts';
import { fastWire } from './fast-wire.ts';
import { plainWire } from './plain-wire.ts';

/** How statements are sent to PostgreSQL and how their rows are read. */
export interface PostgresWire {
  /** The options with which `pg.Pool` makes connections for this wire. */
  readonly poolOptions: Pick<pg.PoolConfig, 'Client' | 'pipeline'>;
  /**
   * Whether a connection takes a statement before it has answered the previous one. Only such connections are shared.
   */
  readonly isPipelined: boolean;
  /** Runs a prepared statement on a connection. */
  run(client: pg.ClientBase, statement: Prepared, options: RunOptions): Promise<TextRows>;
  /** Holds back what is written to a connection until the returned function is called. */
  cork(client: pg.ClientBase): () => void;
}

/** What one run of a prepared statement needs besides the statement. */
export interface RunOptions {
  /** The name under which the connection keeps the statement; undefined when it does not keep it. */
  readonly name: string | undefined;
  readonly values: unknown[];
  readonly timeoutMs: number | undefined;
}

/** `fast` reads rows as bytes and does not wait for answers; `plain` uses only the public interface of pg. */
export const wires = { fast: fastWire, plain: plainWire } as const satisfies Readonly<
  Record<string, PostgresWire>
>;

export type WireName = keyof typeof wires;
