import { type AliasedExpression, type Expression, type SqlBool, sql } from 'kysely';
import type { NewKey } from '../idempotency.ts';
import { columnsOf, type Part, type Parts, recordset } from './write-parts.ts';

// The parts by which a statement stores the Idempotency-Keys of its items, each with the row that was written with it.

/** An item that a statement writes, and its Idempotency-Key if it has one. */
export interface KeyedItem {
  readonly key?: NewKey | undefined;
}

/** Whether any of the items has a key. If none has, the statement contains none of these parts. */
export function areKeyed(items: readonly KeyedItem[]): boolean {
  return items.some(({ key }) => key !== undefined);
}

/** The value of the slot that `requestKeys` reads. An entry is the id of an item's entry in the log of changes. */
export function keyValues(items: readonly (KeyedItem & { entry: string })[]): { requestKeys: string } {
  const rows = items.flatMap(({ key, entry }) => {
    if (!key) return [];
    const { userAccountId: account, requestHash, createdUtc: at } = key;
    return { entry, account, key: key.key, hash: `\\x${requestHash.toString('hex')}`, lock: key.lock, at };
  });
  return { requestKeys: JSON.stringify(rows) };
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

/**
 * The parts with the keys, and with the entries that are not written, because another request uses or has used their
 * keys.
 */
export function keyParts(parts: Parts): Part[] {
  const refused = parts
    .selectFrom('requestKeys')
    .select('requestKeys.entry')
    .where((eb) =>
      eb.or([
        sql<SqlBool>`not pg_try_advisory_xact_lock(request_keys.lock)`,
        eb.exists(
          eb
            .selectFrom('idempotencyKey')
            .select('idempotencyKey.key')
            .whereRef('idempotencyKey.userAccountId', '=', 'requestKeys.account')
            .whereRef('idempotencyKey.key', '=', 'requestKeys.key'),
        ),
      ]),
    );
  return [
    ['requestKeys', parts.selectFrom(recordset<KeyRow, 'one'>('requestKeys', 'one', keyColumns)).selectAll()],
    ['refused', refused],
  ];
}

/** Whether the entry of `one` may be written. */
export const isFree = sql<SqlBool>`not exists (select from refused where refused.entry = one.entry)`;

/** The entries that are not written, separated by spaces; null if all are written. */
export function refusedEntries(parts: Parts) {
  return sql<
    string | null
  >`(${parts.selectFrom('refused').select(sql<string>`string_agg(refused.entry::text, ' ')`.as('entries'))})`;
}

/**
 * The part that stores the keys with the written rows: it inserts the rows that `from` selects, which are joined to
 * `requestKeys`. If another request has stored a key since the statement began, it fails, and with it the whole
 * statement.
 */
export function keptKeysPart(
  parts: Parts,
  from: (selections: AliasedExpression<unknown, string>[]) => Expression<unknown>,
  additionalValues: Expression<unknown> = sql`'{}'::jsonb`,
): Part {
  const { columns, selections } = columnsOf<'idempotencyKey'>({
    userAccountId: sql.ref('requestKeys.account'),
    key: sql.ref('requestKeys.key'),
    requestHash: sql.ref('requestKeys.hash'),
    createdUtc: sql.ref('requestKeys.at'),
    written: sql`to_jsonb(shown) || ${additionalValues}`,
  });
  return ['kept', parts.insertInto('idempotencyKey').columns(columns).expression(from(selections))];
}

/** The parts that keep the keys of a statement that returns a row for each entry. */
export function keptKeysByEntry(parts: Parts, shown: Part[1]): Part[] {
  const keys = keptKeysPart(parts, (selections) =>
    parts.selectFrom('shown').innerJoin('requestKeys', 'requestKeys.entry', 'shown.entry').select(selections),
  );
  return [['shown', shown], keys];
}
