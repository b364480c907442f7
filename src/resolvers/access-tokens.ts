import { hash, randomBytes } from 'node:crypto';
import { insertAccessToken, lockLivingToken, selectAccessToken, updateRevoked } from '../db/access-tokens.ts';
import { always, type Predicate } from '../db/query/predicate.ts';
import type { Row } from '../db/tables/tables.ts';
import { inTransaction } from '../db/engine/transaction.ts';
import { type MemberCard, selectMemberCard } from '../db/workspaces.ts';
import { type Actor, actorOf, type AuditedAction, recordAuditEntries } from './audit.ts';
import { memberRole, memberStatus } from '../model/codes.ts';
import { type Context, type Principal, type Scope, scopes, signedIn } from './context.ts';
import { raise, Violations } from './errors.ts';
import { decodeId, encodeId, newUuid } from './ids.ts';
import { checkText } from './writes/write-rules.ts';
import type { TenantDb } from '../db/tables/tenant-tables.ts';

export interface AccessTokenCreateInput {
  name: string;
  scopes: readonly string[];
  /** Whom it stands for; the principal himself when left out. */
  memberId?: string | null | undefined;
  /** When it ends; with the token that makes it when left out. */
  expiresUtc?: Date | null | undefined;
}

export interface NewAccessToken {
  /** The text itself, which nobody can be shown again. */
  token: string;
  accessToken: Row<'accessToken'>;
}

/** What is kept of a token: enough to know it again, not to use it. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text);
}

/**
 * Mints a token that can do no more and lives no longer than the one that asks, and is revoked with it. For
 * another member: only an owner or admin with `workspace:admin`, and not for one of a higher role.
 */
export async function createAccessToken(
  ctx: Context,
  input: AccessTokenCreateInput,
): Promise<NewAccessToken> {
  const signed = signedIn(ctx);
  const { db, principal, now } = signed;
  const held = [...principal.scopes];
  const expiresUtc = input.expiresUtc ?? principal.expiresUtc;
  checkTokenInput({ ...input, expiresUtc }, now);
  const more = input.scopes.filter((scope) => !held.some((own) => own === scope));
  if (more.length > 0) {
    const message = `cannot include ${more.join(', ')}, which the token that makes the request lacks`;
    raise('forbidden', `scopes: ${message}.`, [{ field: 'scopes', message }]);
  }
  if (principal.expiresUtc && expiresUtc && expiresUtc > principal.expiresUtc) {
    const message = `cannot be later than the expiry of the token that makes the request, ${principal.expiresUtc.toISOString()}`;
    raise('forbidden', `expiresUtc: ${message}.`, [{ field: 'expiresUtc', message }]);
  }
  const userAccountId = await holderOf(db, principal, input.memberId);
  const { tokenId: parentTokenId } = principal;
  return inTransaction(db, async (transaction) => {
    const lives = await lockLivingToken(transaction, parentTokenId);
    if (!lives) raise('unauthenticated', 'The access token has been revoked.');
    const token = { ...input, userAccountId, parentTokenId, expiresUtc };
    return issueToken(transaction, actorOf(signed), token);
  });
}

/**
 * Which access tokens of the workspace a principal may list, read by id and revoke. With `workspace:admin` an owner or
 * admin reaches all of them, anyone else those of their own member. Without it a token reaches itself and the tokens
 * made with it, directly or through others: a weak token must not reveal or revoke a stronger one.
 */
export function reachableTokens({ role, scopes, userAccountId, tokenId }: Principal): Predicate {
  if (!scopes.has('workspace:admin'))
    return { lineage: { table: 'accessToken', parent: 'parentTokenId', root: tokenId } };
  if (role <= memberRole.admin) return always;
  return { column: 'userAccountId', is: 'eq', value: userAccountId };
}

/**
 * Revokes a token and all tokens made with it. A token that does not exist or that the principal does not
 * reach is `not_found`; that of a member with a higher role is `forbidden`.
 */
export async function revokeAccessToken(
  ctx: Context,
  input: { id: string },
): Promise<{ accessToken: Row<'accessToken'> }> {
  const signed = signedIn(ctx);
  const { db, principal, now, loaders } = signed;
  const id = decodeId('token', input.id);
  if ('problem' in id)
    raise('validation_failed', `id: ${id.problem}.`, [{ field: 'id', message: id.problem }]);
  const token = await selectAccessToken(db, id.uuid, reachableTokens(principal));
  if (!token) raise('not_found', 'There is no such access token.');
  await requireNoHigherRole(db, principal, token);
  await revokeFamily(db, actorOf(signed), token, now);
  loaders.clear();
  return { accessToken: (await selectAccessToken(db, token.id)) ?? token };
}

/**
 * Revokes a token and its descendants, generation by generation: a parent that is revoked but not yet committed
 * keeps `createAccessToken` waiting, so no child slips in behind.
 */
export async function revokeFamily(
  db: TenantDb,
  actor: Actor,
  { id }: { id: string },
  now: Date,
): Promise<void> {
  await inTransaction(db, async (transaction) => {
    const revoked = await updateRevoked(transaction, { column: 'id', ids: [id] }, now);
    let generation = [id];
    while (generation.length > 0) {
      const which = { column: 'parentTokenId', ids: generation } as const;
      const children = await updateRevoked(transaction, which, now);
      revoked.push(...children);
      generation = children.map((child) => child.id);
    }
    const actions = revoked.map((token) => revocationOf(token, id, now));
    await recordAuditEntries(transaction, actor, actions, now);
  });
}

function revocationOf(token: { id: string; name: string }, eldestId: string, now: Date): AuditedAction {
  return {
    act: 'access-token.revoked',
    subject: { kind: 'access token', id: encodeId('token', token.id), name: token.name },
    changes: {
      revokedUtc: { after: now.toISOString() },
      ...(token.id !== eldestId && { revokedWith: { after: encodeId('token', eldestId) } }),
    },
  };
}

/** Throws everything that is wrong with a token's name, scopes and expiry. */
export function checkTokenInput(input: AccessTokenCreateInput, now: Date): void {
  const violations = new Violations();
  checkText(violations, 'name', input.name.trim(), { min: 1, max: 255 });
  violations.that(input.scopes.length > 0, 'scopes', `must name at least one of ${scopes.join(', ')}`);
  for (const scope of input.scopes.filter((scope) => !isScope(scope))) {
    violations.add(
      'scopes',
      `${JSON.stringify(scope.slice(0, 50))} is not a scope; the scopes are ${scopes.join(', ')}`,
    );
  }
  violations.that(!input.expiresUtc || input.expiresUtc > now, 'expiresUtc', 'must be in the future');
  violations.check();
}

/** Makes the text, writes the row and enters the act; whether it may be made has been decided. */
export async function issueToken(
  db: TenantDb,
  actor: Actor,
  {
    name,
    scopes,
    ...token
  }: AccessTokenCreateInput & {
    userAccountId: string;
    parentTokenId: string | null;
    /** Made before, when it had to be kept before the row was written. */
    token?: string;
  },
): Promise<NewAccessToken> {
  const text = token.token ?? newTokenText();
  const accessToken = await inTransaction(db, async (trx) => {
    const row = await insertAccessToken(trx, {
      id: newUuid(),
      userAccountId: token.userAccountId,
      parentTokenId: token.parentTokenId,
      name: name.trim(),
      tokenHash: hashToken(text),
      scopes: [...new Set(scopes)],
      expiresUtc: token.expiresUtc ?? null,
    });
    await recordAuditEntries(trx, actor, [creationOf(row)]);
    return row;
  });
  return { token: text, accessToken };
}

function creationOf(token: Row<'accessToken'>): AuditedAction {
  const { id, name, scopes, expiresUtc, userAccountId, parentTokenId } = token;
  return {
    act: 'access-token.created',
    subject: { kind: 'access token', id: encodeId('token', id), name },
    changes: {
      scopes: { after: scopes },
      userAccountId: { after: encodeId('user', userAccountId) },
      ...(expiresUtc && { expiresUtc: { after: expiresUtc.toISOString() } }),
      ...(parentTokenId && { parentTokenId: { after: encodeId('token', parentTokenId) } }),
    },
  };
}

/** 192 random bits, and no character that ends a double click. */
export function newTokenText(): string {
  return `wg_${randomBytes(24).toString('hex')}`;
}

async function holderOf(
  db: TenantDb,
  principal: Principal,
  memberId: string | null | undefined,
): Promise<string> {
  if (!memberId || memberId === encodeId('member', principal.memberId)) return principal.userAccountId;
  if (!administers(principal)) {
    raise('forbidden', 'Only owners and admins may create tokens for other members, with the scope workspace:admin.');
  }
  const id = decodeId('member', memberId);
  if ('problem' in id)
    raise('validation_failed', `memberId: ${id.problem}.`, [{ field: 'memberId', message: id.problem }]);
  const member = await selectMemberCard(db, { column: 'id', value: id.uuid });
  if (!member || !takesPart(member)) {
    const message = 'must be a member who can use a token';
    raise('validation_failed', `memberId: ${message}.`, [{ field: 'memberId', message }]);
  }
  if (member.role < principal.role) raise('forbidden', 'The member has a higher role than the viewer.');
  return member.userAccountId;
}

async function requireNoHigherRole(
  db: TenantDb,
  { userAccountId, role }: Principal,
  token: Row<'accessToken'>,
): Promise<void> {
  if (token.userAccountId === userAccountId) return;
  const holder = await selectMemberCard(db, {
    column: 'userAccountId',
    value: token.userAccountId,
  });
  if (holder && holder.role < role) raise('forbidden', 'The token belongs to a member with a higher role.');
}

function administers({ role, scopes }: Principal): boolean {
  return role <= memberRole.admin && scopes.has('workspace:admin');
}

/** Suspended and removed members cannot use a token; the invited become active otherwise. */
export function takesPart({ status }: Pick<MemberCard, 'status'>): boolean {
  return status === memberStatus.active || status === memberStatus.invited;
}
