import { type AliasedExpression, type Expression, type SqlBool, sql } from 'kysely';
import type { NewKey } from '../idempotency.ts';
import { columnsOf, type Part, type Parts, recordset } from './write-parts.ts';

// The parts by which a statement keeps the Idempotency-Keys of its items, each with the row that was written under it.

/** An item that a statement writes, perhaps under a key. */
export interface Keyed {
  readonly key?: NewKey | undefined;
}

/** Is any of the items under a key. Without one, a statement has none of these parts. */
export function areKeyed(items: readonly Keyed[]): boolean {
  return items.some(({ key }) => key !== undefined);
}

/** The value of the slot that `givenKeys` reads; an entry is the id of an item's entry in the log of changes. */
export function keyValues(items: readonly (Keyed & { entry: string })[]): { givenKeys: string } {
  const rows = items.flatMap(({ key, entry }) => {
    if (!key) return [];
    const { userAccountId: account, requestHash, createdUtc: at } = key;
    return { entry, account, key: key.key, hash: `\\x${requestHash.toString('hex')}`, lock: key.lock, at };
  });
  return { givenKeys: JSON.stringify(rows) };
}

const keyColumns = {
  entry: 'uuid',
  account: 'uuid',
  key: 'text',
  hash: 'bytea',
  lock: 'bigint',
  at: 'timestamptz',
};

interface KeyRow {
  entry: string;
  account: string;
  key: string;
  hash: Buffer;
  at: Date;
}

/** The keys, and the entries of those that another request uses at the moment or has used: they are not written. */
export function keyParts(parts: Parts): Part[] {
  const refused = parts
    .selectFrom('givenKeys')
    .select('givenKeys.entry')
    .where((eb) =>
      eb.or([
        sql<SqlBool>`not pg_try_advisory_xact_lock(given_keys.lock)`,
        eb.exists(
          eb
            .selectFrom('idempotencyKey')
            .select('idempotencyKey.key')
            .whereRef('idempotencyKey.userAccountId', '=', 'givenKeys.account')
            .whereRef('idempotencyKey.key', '=', 'givenKeys.key'),
        ),
      ]),
    );
  return [
    ['givenKeys', parts.selectFrom(recordset<KeyRow, 'one'>('givenKeys', 'one', keyColumns)).selectAll()],
    ['refused', refused],
  ];
}

/** Whether the entry of `one` may be written. */
export const isFree = sql<SqlBool>`not exists (select from refused where refused.entry = one.entry)`;

/**
 * Keeps the keys with what was written: an insert of each of the rows that `from` selects, which join `givenKeys`. It fails
 * where another request has kept the key since the statement began, and undoes all that the statement does.
 */
export function kept(
  parts: Parts,
  from: (selections: AliasedExpression<unknown, string>[]) => Expression<unknown>,
  more: Expression<unknown> = sql`'{}'::jsonb`,
): Part {
  const { columns, selections } = columnsOf<'idempotencyKey'>({
    userAccountId: sql.ref('givenKeys.account'),
    key: sql.ref('givenKeys.key'),
    requestHash: sql.ref('givenKeys.hash'),
    createdUtc: sql.ref('givenKeys.at'),
    written: sql`to_jsonb(shown) || ${more}`,
  });
  return ['kept', parts.insertInto('idempotencyKey').columns(columns).expression(from(selections))];
}

/** Keeps the keys of statements that show a row for each entry. */
export function keptByEntry(parts: Parts, shown: Part[1]): Part[] {
  const keys = kept(parts, (selections) =>
    parts.selectFrom('shown').innerJoin('givenKeys', 'givenKeys.entry', 'shown.entry').select(selections),
  );
  return [['shown', shown], keys];
}
