import { type Kysely, type Selectable, sql } from 'kysely';
import type { AccessTokenTable } from './tables/directory-tables.ts';
import type { Database } from './engine/engine.ts';
import { anyWorkspace } from './engine/tenant-handle.ts';
import type { Trx } from './engine/transaction.ts';
import { always, type Predicate, predicateSql } from './query/conditions/predicate.ts';
import { PreparedSelect } from './query/prepared-select.ts';
import { Slot } from './statements/slots.ts';
import type { Row, Tables } from './tables/tables.ts';
import type { NewRow, TenantDb } from './tables/tenant-tables.ts';

/** A token and its member, in any state. */
export type TokenHolder = Pick<
  Selectable<AccessTokenTable>,
  'workspaceId' | 'userAccountId' | 'scopes' | 'expiresUtc' | 'lastUsedUtc' | 'revokedUtc'
> & {
  tokenId: string;
  memberId: string;
  /** The version of the permissions of the workspace's tokens, read in the same statement. */
  auth: number;
} & Pick<Row<'member'>, 'displayName' | 'role' | 'status' | 'principalKind'>;

/**
 * Finds the token of a request, which names no workspace: first the workspace of the token, and then the token in it.
 * The statements are prepared because every request may need them.
 */
export class TokenHolders {
  readonly #database: Pick<Database, 'connect' | 'of' | 'unscoped'>;
  #routeStatement: PreparedSelect<{ workspaceId: string }> | undefined;

  constructor(database: Pick<Database, 'connect' | 'of' | 'unscoped'>) {
    this.#database = database;
  }

  /**
   * The token with this hash and its member; undefined if no token has it. `known` has its workspace from an earlier
   * lookup, which is still right, because a token never moves to another workspace.
   */
  async find(tokenHash: Buffer, known?: { workspaceId: string }): Promise<TokenHolder | undefined> {
    const { workspaceId } = known ?? (await this.#routeOf(tokenHash)) ?? {};
    if (workspaceId === undefined) return undefined;
    const connect = () => this.#database.connect();
    const [holder] = await holderStatement.send(
      { db: this.#database.of(workspaceId), connect },
      { tokenHash },
    );
    return holder;
  }

  async #routeOf(tokenHash: Buffer): Promise<{ workspaceId: string } | undefined> {
    this.#routeStatement ??= new PreparedSelect(
      this.#database.unscoped
        .selectFrom('tokenRoute')
        .select('workspaceId')
        .where('tokenHash', '=', sql<Buffer>`${new Slot('tokenHash')}`),
      ['workspaceId'],
    );
    const [route] = await this.#routeStatement.run(() => this.#database.connect(), { tokenHash });
    return route;
  }
}

const holderStatement = new PreparedSelect<TokenHolder>(
  anyWorkspace
    .selectFrom('accessToken as t')
    .innerJoin('member as m', 'm.userAccountId', 't.userAccountId')
    .select(['t.workspaceId', 't.id as tokenId', 't.userAccountId', 't.scopes'])
    .select(['t.expiresUtc', 't.lastUsedUtc', 't.revokedUtc'])
    .leftJoin('workspaceVersion as v', (join) => join.onTrue())
    .select(['m.id as memberId', 'm.displayName', 'm.role', 'm.status', 'm.principalKind'])
    .select((eb) => eb.fn.coalesce('v.auth', eb.lit(0)).as('auth'))
    .where('t.tokenHash', '=', sql<Buffer>`${new Slot('tokenHash')}`),
  [
    'workspaceId',
    'tokenId',
    'userAccountId',
    'scopes',
    'expiresUtc',
    'lastUsedUtc',
    'revokedUtc',
    'memberId',
    'displayName',
    'role',
    'status',
    'principalKind',
    'auth',
  ],
);

/** Stores the time of a use of the token, unless the stored time is later than `before`. */
export async function updateLastUsed(
  db: TenantDb,
  token: { tokenId: string },
  usedUtc: Date,
  before: Date,
): Promise<void> {
  await db
    .updateTable('accessToken as t')
    .set({ lastUsedUtc: usedUtc })
    .where('t.id', '=', token.tokenId)
    .where((eb) => eb.or([eb('t.lastUsedUtc', 'is', null), eb('t.lastUsedUtc', '<', before)]))
    .execute();
}

/** Inserts a token and its route. In a database whose trigger has added the route already, the second insert does nothing. */
export async function insertAccessToken(trx: Trx, token: NewRow<'accessToken'>): Promise<Row<'accessToken'>> {
  const row = await trx.insertInto('accessToken').values(token).returningAll().executeTakeFirstOrThrow();
  await trx
    .insertInto('tokenRoute')
    .values({ tokenHash: token.tokenHash })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return row;
}

/** The workspace of the token with this id, for commands of the operator, which run outside of any workspace. */
export async function selectTokenWorkspace(
  unscoped: Kysely<Tables>,
  id: string,
): Promise<string | undefined> {
  const row = await unscoped
    .selectFrom('accessToken')
    .select('workspaceId')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.workspaceId;
}

/** The token with this id, if it matches `where`; undefined otherwise. */
export function selectAccessToken(
  db: TenantDb,
  id: string,
  where: Predicate = always,
): Promise<Row<'accessToken'> | undefined> {
  return db
    .selectFrom('accessToken as r0')
    .selectAll('r0')
    .where('r0.id', '=', id)
    .where(predicateSql(where, 'r0'))
    .executeTakeFirst();
}

/**
 * Locks a token until the transaction ends, unless it is revoked. Its revocation then waits for tokens created with it.
 */
export async function lockUnrevokedToken(db: TenantDb, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('accessToken as t')
    .select('t.id')
    .where('t.id', '=', id)
    .where('t.revokedUtc', 'is', null)
    .forShare()
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * The number of tokens of a member that are neither revoked nor expired, and the number that were created after `since`. The row of the
 * member is locked so that no other transaction that counts them adds one meanwhile.
 */
export async function countTokens(
  trx: Trx,
  { userAccountId, now, since }: { userAccountId: string; now: Date; since: Date },
): Promise<{ valid: number; recent: number }> {
  await trx
    .selectFrom('member')
    .select('id')
    .where('userAccountId', '=', userAccountId)
    .forNoKeyUpdate()
    .execute();
  const { valid, recent } = await trx
    .selectFrom('accessToken as t')
    .select((eb) => [
      eb.fn
        .countAll()
        .filterWhere('t.revokedUtc', 'is', null)
        .filterWhere(eb.or([eb('t.expiresUtc', 'is', null), eb('t.expiresUtc', '>', now)]))
        .as('valid'),
      eb.fn.countAll().filterWhere('t.createdUtc', '>', since).as('recent'),
    ])
    .where('t.userAccountId', '=', userAccountId)
    .executeTakeFirstOrThrow();
  return { valid: Number(valid), recent: Number(recent) };
}

/**
 * Revokes the tokens with these ids, or the tokens that were created with them (`parentTokenId`), unless they are
 * revoked already. Returns those that it revoked.
 */
export async function updateRevoked(
  db: TenantDb,
  which: { column: 'id' | 'parentTokenId'; ids: readonly string[] },
  revokedUtc: Date,
): Promise<{ id: string; name: string }[]> {
  return db
    .updateTable('accessToken as t')
    .set({ revokedUtc })
    .where(`t.${which.column}`, 'in', which.ids)
    .where('t.revokedUtc', 'is', null)
    .returning(['t.id', 't.name'])
    .execute();
}

/** The tokens of a workspace with the names of their members, newest first. */
export function selectAccessTokens(db: TenantDb) {
  return db
    .selectFrom('accessToken as t')
    .innerJoin('member as m', 'm.userAccountId', 't.userAccountId')
    .select(['t.id', 't.name', 't.scopes', 't.createdUtc', 't.expiresUtc', 't.lastUsedUtc', 't.revokedUtc'])
    .select(['m.id as memberId', 'm.displayName'])
    .orderBy('t.createdUtc', 'desc')
    .orderBy('t.id', 'desc')
    .execute();
}
