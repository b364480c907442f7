import type { Lease, TextRows } from '../../db/lease.ts';
import type { Prepared, Values } from '../../db/prepared.ts';
import type { Reading } from '../../db/page.ts';
import { Slot } from '../../db/slots.ts';
import { type Context, type Principal, signedIn } from '../../resolvers/context.ts';
import { Bail } from './frame.ts';

/** Whose rows a statement reads, which every run says anew. */
const workspaceSlot = new Slot('workspaceId');
/** The keys that a statement finds rows by. */
export const keysSlot = new Slot('keys');

/** One run of a compiled operation: its variables, who asks, and the connection that it borrows. */
export class Run {
  readonly context: Context;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Objects of the answer so far, which is what it costs; connections and their edges only hold them. */
  objects = 0;
  #borrowed: { lease: Promise<Lease>; users: number } | undefined;
  #ended = false;

  constructor(context: Context, variables: Readonly<Record<string, unknown>>) {
    this.context = context;
    this.variables = variables;
  }

  /** Who asks; without a token nothing of a workspace can be read. */
  get principal(): Principal {
    return signedIn(this.context).principal;
  }

  /** What statements are compiled with: the workspace is a slot, so they serve every one. */
  reading(columns: readonly string[]): Reading {
    return { db: this.context.db, workspaceId: workspaceSlot, columns };
  }

  /**
   * Statements that are asked for before the first answers go out together, on one connection. It is given back when
   * the last of them has been answered: a run that waits for another connection, as resolvers do, must hold none.
   */
  async rows(statement: Prepared, values: Values): Promise<TextRows> {
    const { connect } = this.context;
    if (!connect) throw new Bail('Inside a transaction, statements go through it.');
    if (this.#ended) throw new Bail('The run has ended.');
    this.#borrowed ??= { lease: connect(), users: 0 };
    const borrowed = this.#borrowed;
    borrowed.users += 1;
    const lease = await borrowed.lease;
    try {
      return await lease.rows(statement, { ...values, workspaceId: this.principal.workspaceId });
    } finally {
      borrowed.users -= 1;
      if (borrowed.users === 0) {
        this.#borrowed = undefined;
        lease.release();
      }
    }
  }

  /** Nothing more is sent: where one part fails, those beside it do not know it yet. */
  end(): void {
    this.#ended = true;
  }
}
