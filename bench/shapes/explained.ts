import pg from 'pg';
import { BorrowedConnection, type TextRows } from '../../src/db/engine/borrowed-connection.ts';
import type { Prepared, Values } from '../../src/db/statements/prepared.ts';

/** What a statement did, according to EXPLAIN. */
export interface ExplainedStatement {
  readonly text: string;
  /** Rows that scans of tables have read, including those that a filter dropped. */
  readonly heapRows: number;
  /** Rows of tallies, of which there are only as many as groups in statuses, whatever the number of issues. */
  readonly tallyRows: number;
  /** Entries that index-only scans have read. */
  readonly indexEntries: number;
  readonly buffers: number;
  readonly ms: number;
  /** The most rows that a sort has taken in. */
  readonly sortedRows: number;
  /** Tables that were scanned as a whole, with the rows read. */
  readonly sequential: readonly { table: string; rows: number }[];
}

interface Plan {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Relation Name'?: string;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: Plan[];
}

/** Explains statements one after the other on a separate connection, with a custom or a generic plan. */
export class Explainer {
  readonly #client: pg.Client;
  readonly #isGeneric: boolean;
  #last: Promise<unknown> = Promise.resolve();

  constructor(client: pg.Client, { isGeneric }: { isGeneric: boolean }) {
    this.#client = client;
    this.#isGeneric = isGeneric;
  }

  explain(text: string, parameters: unknown[]): Promise<ExplainedStatement> {
    const found = this.#last.then(() => this.#explain(text, parameters));
    this.#last = found.catch(() => undefined);
    return found;
  }

  async #explain(text: string, parameters: unknown[]): Promise<ExplainedStatement> {
    const explain = 'explain (analyze, buffers, format json)';
    if (!this.#isGeneric) return explained(text, await this.#client.query(`${explain} ${text}`, parameters));
    await this.#client.query('deallocate all');
    await this.#client.query(`prepare generic as ${text}`);
    const literals = parameters.map(literalOf).join(', ');
    return explained(
      text,
      await this.#client.query(`${explain} execute generic${literals && `(${literals})`}`),
    );
  }
}

/** Explains each statement with its values before it runs it. */
export class ExplainingConnection extends BorrowedConnection {
  readonly #inner: BorrowedConnection;
  readonly #explainer: Explainer;
  readonly #found: ExplainedStatement[];

  constructor(inner: BorrowedConnection, explainer: Explainer, found: ExplainedStatement[]) {
    super({ query: () => refuse(), prepared: () => refuse() }, () => inner.release());
    this.#inner = inner;
    this.#explainer = explainer;
    this.#found = found;
  }

  override async rows(statement: Prepared, values: Values): Promise<TextRows> {
    this.#found.push(await this.#explainer.explain(statement.text, statement.bind(values)));
    return this.#inner.rows(statement, values);
  }
}

function refuse(): Promise<never> {
  return Promise.reject(new Error('Only prepared statements are explained.'));
}

function explained(text: string, { rows }: pg.QueryResult): ExplainedStatement {
  const [{ Plan: plan, 'Execution Time': ms }] = rows[0]['QUERY PLAN'];
  const sum = {
    heapRows: 0,
    tallyRows: 0,
    indexEntries: 0,
    sortedRows: 0,
    sequential: [] as { table: string; rows: number }[],
  };
  const visit = (node: Plan) => {
    const loops = node['Actual Loops'];
    const read =
      (node['Actual Rows'] +
        (node['Rows Removed by Filter'] ?? 0) +
        (node['Rows Removed by Index Recheck'] ?? 0)) *
      loops;
    const type = node['Node Type'];
    if (type === 'Index Only Scan') sum.indexEntries += read;
    else if (node['Relation Name'] === 'issue_tally') sum.tallyRows += read;
    else if (node['Relation Name'] !== undefined) sum.heapRows += read;
    if (type === 'Seq Scan' && loops > 0 && node['Relation Name'] !== 'issue_tally')
      sum.sequential.push({ table: node['Relation Name'] ?? '', rows: read });
    if (type.includes('Sort')) {
      const [input] = node.Plans ?? [];
      if (input) sum.sortedRows = Math.max(sum.sortedRows, input['Actual Rows']);
    }
    node.Plans?.forEach(visit);
  };
  visit(plan);
  return { text, ...sum, buffers: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], ms };
}

/** A parameter as SQL. Arrays of ids are sent as bytes: a header of 20, then each with its length. */
function literalOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Buffer.isBuffer(value)) return pg.escapeLiteral(`{${uuidsIn(value).join(',')}}`);
  if (value instanceof Date) return pg.escapeLiteral(value.toISOString());
  if (Array.isArray(value))
    return pg.escapeLiteral(`{${value.map((each) => JSON.stringify(each)).join(',')}}`);
  if (typeof value !== 'string' && typeof value !== 'number') return String(value === true);
  return pg.escapeLiteral(String(value));
}

function uuidsIn(bytes: Buffer): string[] {
  const uuids: string[] = [];
  for (let at = 20; at < bytes.length; at += 20) uuids.push(bytes.toString('hex', at + 4, at + 20));
  return uuids;
}
