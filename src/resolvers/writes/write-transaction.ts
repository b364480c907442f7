import { Loaders } from '../../db/reads/loaders.ts';
import type { Sending } from '../../db/query/prepared.ts';
import { again, inTransaction, isForeignKeyViolation, type Trx } from '../../db/engine/transaction.ts';
import { DatabaseUnavailableError } from '../../db/engine/unavailable.ts';
import type { SignedIn } from '../context.ts';
import {
  type Group,
  inLane,
  mostTogether,
  OfDatabases,
  type Outcome,
  type SendAll,
} from './write-batcher.ts';

/** What writes of a workspace have to follow each other on, whatever they are. */
export const turns = {
  /** The numbers of a team's issues. */
  numbers: (workspaceId: string, teamId: string) => `numbers ${workspaceId} ${teamId}`,
  /** The row of an issue, by what the client calls it: who uses another name waits in the database. */
  issue: (workspaceId: string, keyOrId: string) => `issue ${workspaceId} ${keyOrId.toUpperCase()}`,
  /** Who is whose parent. */
  parents: (workspaceId: string) => `parents ${workspaceId}`,
};

/**
 * Does the work in one transaction, after all earlier work of this process in the same turn, and then forgets what the
 * request had read. Writes of one turn have to follow each other anyway, by locks of the database; those that wait
 * here hold no connection while they do.
 */
export async function write<Result>(
  { db, loaders, whole }: SignedIn,
  turn: string | undefined,
  work: (trx: Trx) => Promise<Result>,
): Promise<Result> {
  const inOne = () => inTransaction(db, work);
  if (turn !== undefined) whole?.take(turn);
  const result = await (turn === undefined || whole ? inOne() : inTurn(turn, inOne));
  loaders.clear();
  return result;
}

/** A write of one statement, and what else it needs. */
interface StatementWrite<Row, Result> {
  turn: string;
  /** Gives no row when it finds that it cannot write. */
  send: (sending: Sending) => Promise<readonly (Row | undefined)[]>;
  found: (row: Row) => Result;
  /** Then finds out why, or does it another way. */
  otherwise: (trx: Trx) => Promise<Result>;
}

/** Does what one statement can do, which is a transaction by itself, in its turn. */
export async function writeByStatement<Row, Result>(
  context: SignedIn,
  statementWrite: StatementWrite<Row, Result>,
): Promise<Result> {
  const { turn } = statementWrite;
  const { loaders, whole } = context;
  const work = () => writeAlone(context, statementWrite);
  whole?.take(turn);
  const result = await (whole ? work() : inTurn(turn, work));
  loaders.clear();
  return result;
}

async function writeAlone<Row, Result>(
  { db, connect }: SignedIn,
  { send, found, otherwise }: StatementWrite<Row, Result>,
): Promise<Result> {
  const sent = () => send({ db, connect });
  // Within a transaction that alone is run again.
  const [row] = await (connect ? again(sent).catch(nothingThere) : sent());
  return row === undefined ? inTransaction(db, otherwise) : found(row);
}

/** A write that can go with others, in one statement. */
interface SharedWrite<Item, Row, Result> extends Omit<StatementWrite<Row, Result>, 'send'> {
  /** Of what kind it is: only those of one turn go together. */
  kind: 'issue' | 'comment' | 'change';
  /** In whose company those of a turn go, beyond it; undefined: in nobody's. */
  company?: (items: readonly Item[]) => string | undefined;
  item: Item;
  /** Writes all of them, or none; gives to each in its place what came of it, and nothing where it could not be written. */
  send: (sending: Sending, groups: readonly (readonly Item[])[]) => ReturnType<SendAll<Item, Row>>;
}

/**
 * The same with those of its kind that wait for the same turn: when it comes they go together, and with those of other
 * turns in their lane. One after the other, each would wait until the disk has what the one before it wrote.
 */
export async function writeTogether<Item, Row, Result>(
  context: SignedIn,
  { turn, kind, company, item, send, found, otherwise }: SharedWrite<Item, Row, Result>,
): Promise<Result> {
  const { db, connect, loaders, whole } = context;
  const one = {
    turn,
    send: async (sending: Sending) => (await send(sending, [[item]])).flat(),
    found,
    otherwise,
  };
  if (whole) return writeByStatement(context, one);
  const alone = () => writeAlone(context, one);
  const outcome = await withOthers<Item, Row, Result>(db, turn, kind, item, {
    alone,
    company,
    send: (groups) => again(() => send({ db, connect }, groups)),
  });
  const written =
    'result' in outcome
      ? await outcome.result
      : outcome.row === undefined
        ? await inTurn(turn, alone)
        : found(outcome.row);
  loaders.clear();
  return written;
}

/** What was checked before the statement went away before its lock: who checks again can say what it was. */
function nothingThere(error: unknown): [] {
  if (isForeignKeyViolation(error)) return [];
  throw error;
}

/**
 * Does all that the work reads and writes in one transaction. As it holds a connection from the beginning, it waits for
 * no turn inside: where a write finds its turn taken, all is undone, and done anew when the turn has come.
 */
export async function writeWhole<Result>(
  context: SignedIn,
  work: (inside: SignedIn & { readonly db: Trx }) => Promise<Result>,
): Promise<Result> {
  const { db } = context;
  for (let turn: string | undefined; ; ) {
    const whole = new Whole(turn);
    const attempt = () =>
      inTransaction(db, (trx) =>
        work({
          ...context,
          db: trx,
          connect: undefined,
          loaders: new Loaders(trx),
          whole,
        }),
      );
    try {
      return await (turn === undefined ? attempt() : inTurn(turn, attempt));
    } catch (error) {
      if (!(error instanceof TurnTaken)) throw error;
      turn = error.turn;
    } finally {
      whole.end();
    }
  }
}

/** The turns of a transaction round a whole operation, held until it has ended. */
export class Whole {
  readonly #turns: Set<string>;
  readonly #ended = Promise.withResolvers<void>();

  constructor(turn: string | undefined) {
    this.#turns = new Set(turn === undefined ? [] : [turn]);
  }

  take(turn: string): void {
    if (this.#turns.has(turn)) return;
    if (tails.has(turn)) throw new TurnTaken(turn);
    this.#turns.add(turn);
    tails.set(turn, this.#ended.promise);
  }

  end(): void {
    for (const turn of this.#turns) leave(turn, this.#ended.promise);
    this.#ended.resolve();
  }
}

/** Ends an attempt that would have to wait; nobody but `writeWhole` sees it. */
class TurnTaken extends Error {
  readonly turn: string;

  constructor(turn: string) {
    super('The turn is taken.');
    this.turn = turn;
  }
}

/** Writes of one kind that wait for a turn. */
interface Gathering {
  readonly items: unknown[];
  outcomes: Promise<readonly unknown[]> | undefined;
}

const gatheringsOf = new OfDatabases<Gathering>();

/** What came of a write that went with others; nothing where it has to find out by itself why nothing did. */
async function withOthers<Item, Row, Result>(
  db: object,
  turn: string,
  kind: string,
  item: Item,
  {
    company,
    ...ways
  }: Pick<Group<Item, Row, Result>, 'alone' | 'send'> & Pick<SharedWrite<Item, Row, Result>, 'company'>,
): Promise<Outcome<Row, Result>> {
  const gatherings = gatheringsOf.of(db);
  const name = `${kind} ${turn}`;
  let gathering = gatherings.get(name);
  if (gathering && gathering.items.length < mostTogether) gathering.items.push(item);
  else {
    const items = [item];
    const mine: Gathering = { items, outcomes: undefined };
    gatherings.set(name, mine);
    mine.outcomes = inTurn(turn, () => {
      if (gatherings.get(name) === mine) gatherings.delete(name);
      return inLane(db, `${kind} ${company?.(items) ?? turn}`, { ...ways, items });
    });
    gathering = mine;
  }
  const place = gathering.items.length - 1;
  try {
    // The kind says what they are.
    return (await gathering.outcomes)?.[place] as Outcome<Row, Result>;
  } catch (error) {
    // Nobody knows whether they were written; any other failure undid them all.
    if (error instanceof DatabaseUnavailableError) throw error;
    return { row: undefined };
  }
}

const tails = new Map<string, Promise<unknown>>();

async function inTurn<Result>(turn: string, work: () => Promise<Result>): Promise<Result> {
  const before = tails.get(turn);
  const mine = before ? before.then(work, work) : work();
  tails.set(turn, mine);
  try {
    return await mine;
  } finally {
    leave(turn, mine);
  }
}

function leave(turn: string, mine: Promise<unknown>): void {
  if (tails.get(turn) === mine) tails.delete(turn);
}
