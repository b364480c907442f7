import pg from 'pg';
import { prepareValue } from 'pg/lib/utils.js';
import type { TextRows } from './lease.ts';

/** What pg calls on a query while its answer comes in, and how it sends one; its types do not say so. */
interface Sending {
  parsedStatements: Record<string, string>;
  submittedNamedStatements: Record<string, string>;
  parse(statement: { text: string; name: string }): void;
  bind(values: { statement: string; values: unknown[]; valueMapper: (value: unknown) => unknown }): void;
  describe(portal: { type: 'P'; name: string }): void;
  execute(portal: { portal: string }): void;
  sync(): void;
}

/**
 * A statement whose rows stay the texts that PostgreSQL wrote. pg would look at each value of each row, and would
 * have the columns described anew with each run.
 */
export class TextQuery extends pg.Query {
  declare readonly name: string;
  declare readonly text: string;
  declare readonly values: unknown[];
  /** Set by `run`, and set again by pg, which takes time on it. */
  callback: (error: Error | null, result?: TextRows) => void = () => undefined;
  /** Read by pg, under this name. */
  query_timeout: number | undefined;
  readonly #rows: (string | null)[][] = [];
  #types: readonly number[] | undefined;

  /** `types` of the columns, where they are known from an earlier run. */
  constructor(
    statement: { text: string; name: string | undefined; values: unknown[] },
    types: readonly number[] | undefined,
  ) {
    super({ ...statement, name: statement.name ?? '' });
    this.#types = types;
  }

  run(client: pg.ClientBase, timeoutMs: number | undefined): Promise<TextRows> {
    this.query_timeout = timeoutMs;
    return new Promise((resolve, reject) => {
      this.callback = (error, result) =>
        result ? resolve(result) : reject(error ?? new Error('No answer.'));
      client.query(this);
    });
  }

  /** Named and known statements are not parsed again, and known columns not described. */
  prepare(connection: Sending): void {
    const { name, text, values } = this;
    const isParsed =
      name !== '' &&
      (connection.parsedStatements[name] !== undefined ||
        connection.submittedNamedStatements[name] !== undefined);
    if (!isParsed) {
      connection.parse({ text, name });
      if (name !== '') connection.submittedNamedStatements[name] = text;
    }
    connection.bind({ statement: name, values, valueMapper: prepareValue });
    if (!this.#types) connection.describe({ type: 'P', name: '' });
    connection.execute({ portal: '' });
    connection.sync();
  }

  requiresPreparation(): boolean {
    return true;
  }

  handleRowDescription({ fields }: { fields: { dataTypeID: number }[] }): void {
    this.#types = fields.map(({ dataTypeID }) => dataTypeID);
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    this.#rows.push(fields);
  }

  handleCommandComplete(): void {
    // The answer is whole when the connection is ready for the next one.
  }

  handleReadyForQuery(): void {
    this.callback(null, { rows: this.#rows, types: this.#types ?? [] });
  }

  handleError(error: Error): void {
    this.callback(error);
  }
}
