import type { Lease, TextRows } from '../../db/engine/lease.ts';
import type { Prepared, Values } from '../../db/query/prepared.ts';
import type { Order, ReadColumn, Reading, Source } from '../../db/query/page.ts';
import { isAlways, type Predicate } from '../../db/query/predicate.ts';
import { Slot } from '../../db/query/slots.ts';
import { anyWorkspace } from '../../db/engine/tenant-handle.ts';
import { textsOf } from '../../db/wire/wire-row.ts';
import { type Context, type Principal, signedIn } from '../../resolvers/context.ts';
import { testOf } from '../../reference/conditions.ts';
import type { CachedRow } from '../../reference/cached-table.ts';
import type { Snapshot } from '../../reference/snapshot.ts';
import type { RootResults } from '../../schema/builder/root-results.ts';
import { checkAnswerSize } from './answer-size.ts';
import { Bail, type Frame } from './frame.ts';
import { JsonWriter } from './json-writer.ts';
import type { CompiledRowForm } from './row-form.ts';
import type { Literal, Sink } from './sink.ts';
import { type TextLength, ValueSink } from './value-sink.ts';

/** The keys that a statement finds rows by. */
export const keysSlot = new Slot('keys');

/** Who asks, which every run says anew. */
export const viewerSlot = new Slot('viewer');

/** Where the order does not matter. */
const byId: Order = { column: 'id', kind: 'text', nullable: false, direction: 'asc' };
const noRows: readonly CachedRow[] = [];
const noBytes = new Uint8Array(0);

/** Something refers to a row that the reference data does not have: perhaps it is newer than they are. */
export class MissingReference extends Error {}

/** Whether an answer is written as JSON or made of values. */
export type AnswerForm = 'json' | 'data';

/** One run of a compiled operation: its variables, who asks, and the connection that it borrows. */
export class Run {
  readonly context: Context;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The reference data that this run reads, the same for all of it; undefined where none is cached. */
  readonly cached: Snapshot | undefined;
  /** What the resolvers of its roots gave, in this run or the one before it. */
  readonly results: RootResults;
  /** Objects of the answer so far, which is what it costs; connections and their edges only hold them. */
  objects = 0;
  /** Rows of all frames so far: how large the answer will be, roughly. */
  rowsRead = 0;
  readonly #form: AnswerForm;
  /** The objects of an answer of values that are written as JSON. */
  readonly rowForm: CompiledRowForm | undefined;
  readonly #textLength: TextLength = { characters: 0 };
  #borrowed: { lease: Promise<Lease>; users: number } | undefined;
  #ended = false;
  /** Of the rows that were read. */
  readonly #releases: (() => void)[] = [];
  readonly #acceptsMissing: boolean;

  /** The first run takes a row that is missing among the cached ones for a sign that they are older than the others. */
  constructor(
    context: Context,
    variables: Readonly<Record<string, unknown>>,
    {
      cached,
      acceptsMissing,
      form = 'data',
      rowForm,
      results,
    }: {
      cached: Snapshot | undefined;
      acceptsMissing: boolean;
      form?: AnswerForm;
      rowForm?: CompiledRowForm | undefined;
      results: RootResults;
    },
  ) {
    this.context = context;
    this.variables = variables;
    this.cached = cached;
    this.results = results;
    this.#form = form;
    this.rowForm = rowForm;
    this.#acceptsMissing = acceptsMissing;
  }

  /** Who asks; without a token nothing of a workspace can be read. */
  get principal(): Principal {
    return signedIn(this.context).principal;
  }

  /** What statements are compiled with, once for all workspaces. */
  reading(columns: readonly ReadColumn[]): Reading {
    return { db: anyWorkspace, columns };
  }

  /**
   * Statements that are asked for before the first answers go out together, on one connection. It is given back when
   * the last of them has been answered: a run that waits for another connection, as resolvers do, must hold none.
   */
  async rows(statement: Prepared, values: Values): Promise<TextRows> {
    const { connect, shared } = this.context;
    if (!connect) throw new Bail('Inside a transaction, statements go through it.');
    if (this.#ended) throw new Bail('The run has ended.');
    const quick = shared?.(statement);
    if (quick) return this.#sent(quick, statement, values);
    this.#borrowed ??= { lease: connect(), users: 0 };
    const borrowed = this.#borrowed;
    borrowed.users += 1;
    const lease = await borrowed.lease;
    try {
      return await this.#sent(lease, statement, values);
    } finally {
      borrowed.users -= 1;
      if (borrowed.users === 0) {
        this.#borrowed = undefined;
        lease.release();
      }
    }
  }

  async #sent(lease: Lease, statement: Prepared, values: Values): Promise<TextRows> {
    const { workspaceId, userAccountId: viewer } = this.principal;
    const found = await lease.rows(statement, { ...values, workspaceId, viewer });
    if (found.release) this.#releases.push(found.release);
    return found;
  }

  /** The same with every cell as a text. */
  async texts(statement: Prepared, values: Values): Promise<TextRows<readonly (string | null)[]>> {
    const { rows, types } = await this.rows(statement, values);
    return { rows: rows.map(textsOf), types };
  }

  /** A row that another refers to is not among the cached ones. */
  miss(key: string): void {
    if (!this.#acceptsMissing) throw new MissingReference(key);
  }

  /** The rows of a list under each parent (`''`: of the workspace), where they are all cached. */
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
      return { json: out.since(0), value: undefined };
    }
    const out = new ValueSink(this.#textLength);
    write(out);
    return { json: noBytes, value: out.finish() };
  }

  /** An object in the form of the caller; throws when the answer is too large. */
  writtenRow({ write, objectsBelow }: CompiledRowForm, frame: Frame, row: number): Literal {
    this.objects += objectsBelow(frame, row);
    const value = write(frame, row);
    this.#textLength.characters += value.json.length;
    checkAnswerSize(this.#textLength.characters);
    return { json: noBytes, value };
  }

  /** The answer is written, and nothing reads the rows any more; of a run that failed, a part may still do. */
  release(): void {
    for (const release of this.#releases) release();
  }

  /** Nothing more is sent: where one part fails, those beside it do not know it yet. */
  end(): void {
    this.#ended = true;
  }
}
