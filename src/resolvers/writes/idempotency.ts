import type { Kysely } from 'kysely';
import { removeKeys, selectKept, tryLockKey, upsertKept } from '../../db/idempotency.ts';
import type { Tables } from '../../db/tables/tables.ts';
import type { SignedIn } from '../context.ts';
import { raise } from '../errors.ts';
import { writeInOneTransaction } from './write-transaction.ts';

/** How long a key is stored. */
const keptMs = 24 * 60 * 60 * 1000;

/** The maximum length of a stored result, in characters of JSON: several times that of the largest issue. */
const maxResultLength = 1_000_000;

/** A key, and a hash of the request that it came with. */
export interface KeyedRequest {
  readonly key: string;
  readonly requestHash: Buffer;
}

/**
 * Does the work of a request once, however often the request is repeated. The result is stored in the transaction of the
 * work and returned to each repetition. Work that throws stores nothing, so its key can be used again.
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

/** Removes some of the expired keys. */
export function removeOldKeys(unscoped: Kysely<Tables>, now: Date): Promise<number> {
  return removeKeys(unscoped, new Date(now.getTime() - keptMs), 1_000);
}
