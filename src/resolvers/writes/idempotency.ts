import type { Kysely } from 'kysely';
import {
  addAnswers,
  type KeyName,
  advisoryLockOf,
  type NewAnswer,
  type NewKey,
  removeKeys,
  rowOf,
  selectKept,
  tryLockKey,
  upsertKept,
} from '../../db/idempotency.ts';
import type { StatementTarget } from '../../db/engine/statement-target.ts';
import type { Tables } from '../../db/tables/tables.ts';
import type { SignedIn } from '../context.ts';
import { raise } from '../errors.ts';
import { writeInOneTransaction } from './write-transaction.ts';

/** How long a key is stored. */
const keyLifetimeMs = 24 * 60 * 60 * 1000;

/** The maximum length of a stored result, in characters of JSON: several times that of the largest issue. */
const maxResultLength = 1_000_000;

/** A key, and a hash of the request that it came with. */
interface KeyedRequest {
  readonly key: string;
  readonly requestHash: Buffer;
}

/** Does work under a key. Throws `conflict` while this process does other work under the same key. */
export function runUnderKey<Result>(
  { principal: { workspaceId, userAccountId }, now, writes: { serial } }: SignedIn,
  { key, requestHash }: KeyedRequest,
  work: (key: NewKey) => Promise<Result>,
): Promise<Result> {
  const name = { userAccountId, key };
  const lock = advisoryLockOf(workspaceId, name);
  const serialKey = `idempotency ${lock}`;
  if (serial.isBusy(serialKey)) raiseInProgress();
  return serial.run(serialKey, () => work({ ...name, requestHash, createdUtc: now, lock }));
}

function raiseInProgress(): never {
  raise('conflict', 'A request with this Idempotency-Key is in progress. Repeat it in a moment.');
}

/** The result of work, or the row that its statement wrote and that has no answer yet. */
export type OnceResult =
  | { readonly result: unknown; readonly replayed: boolean }
  | { readonly written: Record<string, unknown>; readonly createdUtc: Date };

/**
 * Does the work of a request once, however often the request is repeated. The result is stored in the transaction of
 * the work and returned to each repetition. Work that throws stores nothing, so its key can be used again.
 */
export async function runOnce(
  context: SignedIn,
  key: NewKey,
  work: (transactionContext: SignedIn) => Promise<unknown>,
): Promise<OnceResult> {
  return writeInOneTransaction(context, async (transactionContext) => {
    if (!(await tryLockKey(transactionContext.db, key))) raiseInProgress();
    const stored = await selectKept(
      transactionContext.db,
      key,
      new Date(context.now.getTime() - keyLifetimeMs),
    );
    if (stored) {
      if (!stored.requestHash.equals(key.requestHash))
        raise(
          'idempotency_key_reused',
          'This Idempotency-Key was already used for a different request, or with a token of other scopes: use a new one.',
        );
      const { result, written, createdUtc } = stored;
      return result === null
        ? { written: rowOf(written ?? {}), createdUtc }
        : { result: JSON.parse(result) as unknown, replayed: true };
    }
    const result = await work(transactionContext);
    const text = JSON.stringify(result);
    if (text.length > maxResultLength)
      raise(
        'invalid_request',
        'The answer is too large to be kept under an Idempotency-Key: select less of it.',
      );
    await upsertKept(transactionContext.db, key, text);
    return { result, replayed: false };
  });
}

/**
 * Stores the answer to a write that is done. Without it, a repeated request is answered from the row that was written.
 */
export async function storeAnswer(
  { db, connect, principal: { workspaceId }, writes }: SignedIn,
  { userAccountId, key, createdUtc }: KeyName & Pick<NewKey, 'createdUtc'>,
  answer: unknown,
): Promise<void> {
  const result = JSON.stringify(answer);
  if (result.length > maxResultLength) return;
  await writes.send<NewAnswer, true>(
    { db, connect },
    {
      item: { userAccountId, key, createdUtc, result },
      send: storeAnswers,
      serialKey: `answer ${workspaceId} ${userAccountId} ${key}`,
      batchKey: `answers ${workspaceId}`,
    },
  );
}

async function storeAnswers(to: StatementTarget, answers: readonly NewAnswer[]): Promise<true[]> {
  await addAnswers(to, answers);
  return answers.map(() => true);
}

/** Removes some of the expired keys. */
export function removeOldKeys(unscoped: Kysely<Tables>, now: Date): Promise<number> {
  return removeKeys(unscoped, new Date(now.getTime() - keyLifetimeMs), 1_000);
}
