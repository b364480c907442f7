import type { Kysely } from 'kysely';
import { removeKeys, selectKept, tryLockKey, upsertKept } from '../../db/idempotency.ts';
import type { Tables } from '../../db/tables/tables.ts';
import type { SignedIn } from '../context.ts';
import { raise } from '../errors.ts';
import { writeInOneTransaction } from './write-transaction.ts';

/** How long a key is kept. */
const keptMs = 24 * 60 * 60 * 1000;

/** What is kept under one key, in characters of JSON: room for the largest issue, several times over. */
const maxResultLength = 1_000_000;

/** A key, and what tells the request that it came with from any other. */
export interface KeyedRequest {
  readonly key: string;
  readonly requestHash: Buffer;
}

/**
 * Does the work of a request once, however often it comes: its result is kept in the work's own transaction, and given
 * again to whoever repeats it. Work that throws leaves nothing behind, so that its key is free.
 */
export async function once(
  context: SignedIn,
  { key, requestHash }: KeyedRequest,
  work: (inside: SignedIn) => Promise<unknown>,
): Promise<{ result: unknown; replayed: boolean }> {
  const { userAccountId } = context.principal;
  const name = { userAccountId, key };
  return writeInOneTransaction(context, async (inside) => {
    if (!(await tryLockKey(inside.db, name)))
      raise('conflict', 'A request with this Idempotency-Key is in progress. Repeat it in a moment.');
    const kept = await selectKept(inside.db, name, new Date(context.now.getTime() - keptMs));
    if (kept) {
      if (!kept.requestHash.equals(requestHash))
        raise('idempotency_key_reused', 'This Idempotency-Key came with another request: take a new one.');
      return { result: JSON.parse(kept.result) as unknown, replayed: true };
    }
    const result = await work(inside);
    const text = JSON.stringify(result);
    if (text.length > maxResultLength)
      raise(
        'invalid_request',
        'The answer is too large to be kept under an Idempotency-Key: select less of it.',
      );
    await upsertKept(inside.db, { ...name, requestHash, result: text, createdUtc: context.now });
    return { result, replayed: false };
  });
}

/** Removes some of the keys that do not count any more. */
export function removeOldKeys(unscoped: Kysely<Tables>, now: Date): Promise<number> {
  return removeKeys(unscoped, new Date(now.getTime() - keptMs), 1_000);
}
