import { inTransaction, type Trx } from '../db/transaction.ts';
import type { SignedIn } from './context.ts';

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
  { db, loaders }: SignedIn,
  turn: string | undefined,
  work: (trx: Trx) => Promise<Result>,
): Promise<Result> {
  const result = await (turn === undefined
    ? inTransaction(db, work)
    : inTurn(turn, () => inTransaction(db, work)));
  loaders.clear();
  return result;
}

const tails = new Map<string, Promise<unknown>>();

async function inTurn<Result>(turn: string, work: () => Promise<Result>): Promise<Result> {
  const before = tails.get(turn);
  const mine = before ? before.then(work, work) : work();
  tails.set(turn, mine);
  try {
    return await mine;
  } finally {
    if (tails.get(turn) === mine) tails.delete(turn);
  }
}
