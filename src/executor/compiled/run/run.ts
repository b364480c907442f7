import type { ReadServer } from '../../../db/engine/replicas.ts';
import { AnswerTooLargeError } from '../../../db/engine/read-allowance.ts';
import type { BorrowedConnection, TextRows } from '../../../db/engine/borrowed-connection.ts';
import type { Prepared, Values } from '../../../db/statements/prepared.ts';
import type { ReadColumn, QueryBase } from '../../../db/query/query-base.ts';
import type { Order, Source } from '../../../db/query/walks/walk.ts';
import { isAlways, type Predicate } from '../../../db/query/conditions/predicate.ts';
import { Slot } from '../../../db/statements/slots.ts';
import { anyWorkspace } from '../../../db/engine/tenant-handle.ts';
import { textsOf } from '../../../db/wire/wire-row.ts';
import { type Context, type Principal, requireSignedIn } from '../../../resolvers/context.ts';
import { testOf } from '../../../reference/conditions.ts';
import type { CachedRow } from '../../../reference/cached-table.ts';
import type { Snapshot } from '../../../reference/snapshot.ts';
import type { RootResults } from '../../../schema/builder/root-results.ts';
import { Bail, type Frame } from './frame.ts';
import { JsonWriter } from '../writing/json-writer.ts';
import { type CompiledRowRenderer, WrittenRows } from '../writing/row-renderer.ts';
import type { Literal, Sink } from '../writing/sink.ts';
import { ValueSink } from '../writing/value-sink.ts';

/** The keys by which a statement finds rows. */
export const keysSlot = new Slot('keys');

/** The user account of the principal. */
export const viewerSlot = new Slot('viewer');

/** For lists whose order does not matter. */
const byId: Order = { column: 'id', kind: 'text', nullable: false, direction: 'asc' };
const noRows: readonly CachedRow[] = [];
const noBytes = new Uint8Array(0);

/** A row refers to a row that is missing in the reference data, which may be outdated. */
export class MissingReference extends Error {}

/** Whether an answer is written as JSON or made of values. */
export type AnswerForm = 'json' | 'data';

/** What a run needs in addition to its context and its variables. */
export interface RunOptions {
  /** The reference data of the whole run; undefined where none is cached. */
  readonly cached: Snapshot | undefined;
  /** The replica that answers its statements; undefined for the primary. */
  readonly replica: ReadServer | undefined;
  /** Whether a row may refer to one that is not cached. Otherwise that throws MissingReference, because the cache may be outdated. */
  readonly acceptsMissing: boolean;
  readonly form: AnswerForm;
  /** Writes the objects that are JSON in an answer of values. */
  readonly rowRenderer: CompiledRowRenderer | undefined;
  /** The results of the resolvers of root fields, from this run or the previous one. */
  readonly results: RootResults;
}

/** One run of a compiled operation, with its variables, its principal and the connection that it borrows. */
export class Run {
  readonly context: Context;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly cached: Snapshot | undefined;
  /** Where statements go: a replica, or the primary that the context connects to. */
  readonly #server: Pick<Context, 'connect' | 'shared'>;
  readonly results: RootResults;
  /** The objects of the answer so far, which are its cost; connections and edges do not count. */
  objects = 0;
  /** The rows of all frames so far: an estimate of how large the answer will be. */
  rowsRead = 0;
  readonly #form: AnswerForm;
  readonly rowRenderer: CompiledRowRenderer | undefined;
  /** The objects that the renderer has written as JSON since the last call of `finish`. */
  #writtenRows: WrittenRows | undefined;
  #borrowed: { connection: Promise<BorrowedConnection>; users: number } | undefined;
  #ended = false;
  /** Functions that return the buffers of read rows to the pool. */
  readonly #releases: (() => void)[] = [];
  readonly #acceptsMissing: boolean;

  constructor(
    context: Context,
    variables: Readonly<Record<string, unknown>>,
    { cached, replica, acceptsMissing, form, rowRenderer, results }: RunOptions,
  ) {
    this.context = context;
    this.#server = replica
      ? { connect: () => replica.connect(), shared: (statement) => replica.shared(statement) }
      : context;
    this.variables = variables;
    this.cached = cached;
    this.results = results;
    this.#form = form;
    this.rowRenderer = rowRenderer;
    this.#acceptsMissing = acceptsMissing;
  }

  /** Throws `unauthenticated` without a token. */
  get principal(): Principal {
    return requireSignedIn(this.context).principal;
  }

  /** The handle and columns to build a statement with. Statements are compiled once for all workspaces. */
  queryBase(columns: readonly ReadColumn[]): QueryBase {
    return { db: anyWorkspace, columns };
  }

  /**
   * Sends a statement. Statements of the same level go out together on one connection, which is released after the last
   * result: a resolver may wait for another connection, and a run that waits must not hold one.
   */
  async rows(statement: Prepared, values: Values): Promise<TextRows> {
    const { connect, shared } = this.#server;
    if (!connect) throw new Bail('Inside a transaction, statements go through it.');
    if (this.#ended) throw new Bail('The run has ended.');
    this.context.statements?.add(statement);
    const quick = shared?.(statement);
    if (quick) return this.#send(quick, statement, values);
    this.#borrowed ??= { connection: connect(), users: 0 };
    const borrowed = this.#borrowed;
    borrowed.users += 1;
    const connection = await borrowed.connection;
    try {
      return await this.#send(connection, statement, values);
    } finally {
      borrowed.users -= 1;
      if (borrowed.users === 0) {
        this.#borrowed = undefined;
        connection.release();
      }
    }
  }

  async #send(connection: BorrowedConnection, statement: Prepared, values: Values): Promise<TextRows> {
    const { workspaceId, userAccountId: viewer } = this.principal;
    const found = await connection.rows(statement, { ...values, workspaceId, viewer });
    if (found.release) this.#releases.push(found.release);
    return found;
  }

  /** Sends a statement, and returns all cells as texts. */
  async texts(statement: Prepared, values: Values): Promise<TextRows<readonly (string | null)[]>> {
    const { rows, types } = await this.rows(statement, values);
    return { rows: rows.map(textsOf), types };
  }

  /** Throws MissingReference, unless this run accepts that a row refers to one that is not cached. */
  onMissingRow(key: string): void {
    if (!this.#acceptsMissing) throw new MissingReference(key);
  }

  /** Returns a function from a parent's key to its list; a list without parents has the key `''`. Undefined where rows are not cached. */
  cachedList(
    source: Source,
    order: Order,
    filter: Predicate,
  ): ((key: string) => readonly CachedRow[]) | undefined {
    const { cached } = this;
    const table = cached?.table(source.table);
    const lists = cached?.lists(source, order);
    if (!cached || !table || !lists) return undefined;
    const list = (key: string) => lists.get(key) ?? noRows;
    if (isAlways(filter)) return list;
    const test = testOf(filter, table, cached);
    return test && ((key) => list(key).filter(test));
  }

  cachedCount(source: Source, filter: Predicate): ((key: string) => number) | undefined {
    const list = this.cachedList(source, byId, filter);
    return list && ((key) => list(key).length);
  }

  /** Writes a part of the answer, or all of it, in the form of this run. */
  written(write: (out: Sink) => void): Literal {
    if (this.#form === 'json') {
      const out = new JsonWriter();
      write(out);
      return { json: out.since(0), value: undefined, bytes: out.length };
    }
    const out = new ValueSink();
    try {
      write(out);
      this.#writtenRows?.finish();
    } catch (error) {
      const isTooLarge = error instanceof AnswerTooLargeError;
      throw isTooLarge ? new AnswerTooLargeError(this.#writtenRows?.rowsThatFit) : error;
    }
    this.#writtenRows = undefined;
    return { json: noBytes, value: out.finish(), bytes: out.length };
  }

  /** Writes an object as the JSON of the renderer. */
  writtenRow({ write, objectsBelow }: CompiledRowRenderer, frame: Frame, row: number): Literal {
    this.objects += objectsBelow(frame, row);
    this.#writtenRows ??= new WrittenRows();
    const { value, length } = this.#writtenRows.add(write, frame, row);
    return { json: noBytes, value, bytes: length };
  }

  /** Returns the buffers of all rows to the pool, once the answer is written. A failed run keeps them, because a part of it may still read. */
  release(): void {
    for (const release of this.#releases) release();
  }

  /** Refuses further statements, because other parts of a run may continue after one has failed. */
  end(): void {
    this.#ended = true;
  }
}
