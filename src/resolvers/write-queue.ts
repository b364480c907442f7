const tails = new Map<string, Promise<unknown>>();

/**
 * Runs the work after all earlier work of this process under the same key. Writes to one row have to follow each
 * other anyway; those that wait here hold no connection while they do.
 */
export async function inTurn<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
  const before = tails.get(key);
  const turn = before ? before.then(work, work) : work();
  tails.set(key, turn);
  try {
    return await turn;
  } finally {
    if (tails.get(key) === turn) tails.delete(key);
  }
}
