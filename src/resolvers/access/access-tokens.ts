import { limits } from '../../model/limits.ts';
import { hash, randomBytes } from 'node:crypto';
import {
  countTokens,
  insertAccessToken,
  lockUnrevokedToken,
  selectAccessToken,
  updateRevoked,
} from '../../db/access-tokens.ts';
import { always, type Predicate } from '../../db/query/conditions/predicate.ts';
import type { Row } from '../../db/tables/tables.ts';
import { inTransaction } from '../../db/engine/transaction.ts';
import { type MemberCard, selectMemberCard } from '../../db/workspaces.ts';
import { type Actor, actorOf, type AuditedAction, recordAuditEntries } from './audit.ts';
import { isManager } from './managers.ts';
import { memberStatus } from '../../model/codes.ts';
import { hourMs } from '../../model/times.ts';
import { suggestionFor } from '../../model/nearest.ts';
import { type Context, type Principal, type Scope, scopes, requireSignedIn } from '../context.ts';
import { raise, Violations } from '../errors.ts';
import { decodeId, encodeId, newUuid } from '../ids.ts';
import { checkText } from '../writes/write-rules.ts';
import type { TenantDb } from '../../db/tables/tenant-tables.ts';

export interface AccessTokenCreateInput {
  name: string;
  scopes: readonly string[];
  /** The member that the token belongs to; by default the principal. */
  memberId?: string | null | undefined;
  /** The expiry; by default that of the token that creates it. */
  expiresUtc?: Date | null | undefined;
}

export interface NewAccessToken {
  /** The secret, which cannot be shown again. */
  token: string;
  accessToken: Row<'accessToken'>;
}

/** The hash by which a token is recognized. Only the hash is stored, so the database does not contain usable tokens. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text);
}

/**
 * Creates a token that has no more scopes and no later expiry than the token of the request, and is revoked together
 * with it. Only an owner or admin with `workspace:admin` may create one for another member, and not for one with a
 * higher role. Each token has quotas of its own, so a member can have `limits.accessTokens` at most.
 */
export async function createAccessToken(
  ctx: Context,
  input: AccessTokenCreateInput,
): Promise<NewAccessToken> {
  const context = requireSignedIn(ctx);
  const { db, principal, now } = context;
  const tokenScopes = [...principal.scopes];
  const expiresUtc = input.expiresUtc ?? principal.expiresUtc;
  checkTokenInput({ ...input, expiresUtc }, now);
  const missingScopes = input.scopes.filter(
    (scope) => !tokenScopes.some((tokenScope) => tokenScope === scope),
  );
  if (missingScopes.length > 0) {
    const message = `cannot include ${missingScopes.join(', ')}, which the token that makes the request lacks`;
    raise('forbidden', `scopes: ${message}.`, [{ field: 'scopes', message }]);
  }
  if (principal.expiresUtc && expiresUtc && expiresUtc > principal.expiresUtc) {
    const message = `cannot be later than the expiry of the token that makes the request, ${principal.expiresUtc.toISOString()}`;
    raise('forbidden', `expiresUtc: ${message}.`, [{ field: 'expiresUtc', message }]);
  }
  const userAccountId = await holderOf(db, principal, input.memberId);
  const { tokenId: parentTokenId } = principal;
  return inTransaction(db, async (transaction) => {
    const isValid = await lockUnrevokedToken(transaction, parentTokenId);
    if (!isValid) raise('unauthenticated', 'The access token has been revoked.');
    const since = new Date(now.getTime() - hourMs);
    const { valid, recent } = await countTokens(transaction, { userAccountId, now, since });
    if (valid >= limits.accessTokens)
      raise(
        'conflict',
        `The member has ${limits.accessTokens} valid access tokens, and can have no more. Revoke some that are not needed any more.`,
      );
    // Each token begins with full quotas, so creating and revoking them again and again would multiply the quotas too.
    if (recent >= limits.accessTokensPerHour)
      raise(
        'conflict',
        `The member was given ${limits.accessTokensPerHour} access tokens within an hour. Use one of them, or try again later.`,
      );
    const token = { ...input, userAccountId, parentTokenId, expiresUtc };
    return issueToken(transaction, actorOf(context), token);
  });
}

/**
 * The access tokens that a principal may list, read by id and revoke. With `workspace:admin` these are all tokens for
 * an owner or admin, and the member's own tokens for anyone else. Without it they are the token itself and the tokens
 * that were created with it, directly or indirectly: a weak token must not reveal or revoke a stronger one.
 */
export function reachableTokens(principal: Principal): Predicate {
  const { scopes, userAccountId, tokenId } = principal;
  if (!scopes.has('workspace:admin'))
    return { lineage: { table: 'accessToken', parent: 'parentTokenId', root: tokenId } };
  if (isManager(principal)) return always;
  return { column: 'userAccountId', is: 'eq', value: userAccountId };
}

/**
 * Revokes a token and all tokens that were created with it. Throws `not_found` if the token does not exist or is not
 * among the `reachableTokens` of the principal, and `forbidden` if it belongs to a member with a higher role.
 */
export async function revokeAccessToken(
  ctx: Context,
  input: { id: string },
): Promise<{ accessToken: Row<'accessToken'> }> {
  const context = requireSignedIn(ctx);
  const { db, principal, now, loaders } = context;
  const id = decodeId('token', input.id);
  if ('problem' in id)
    raise('validation_failed', `id: ${id.problem}.`, [{ field: 'id', message: id.problem }]);
  const token = await selectAccessToken(db, id.uuid, reachableTokens(principal));
  if (!token) raise('not_found', 'There is no such access token.');
  await requireNoHigherRole(db, principal, token);
  await revokeWithDescendants(db, actorOf(context), token, now);
  loaders.clear();
  return { accessToken: (await selectAccessToken(db, token.id)) ?? token };
}

/**
 * Revokes a token and its descendants, generation by generation. Once a token is revoked, `createAccessToken` waits for
 * this transaction, so no token can be created with it any longer.
 */
export async function revokeWithDescendants(
  db: TenantDb,
  actor: Actor,
  { id }: { id: string },
  now: Date,
): Promise<void> {
  await inTransaction(db, async (transaction) => {
    const revoked = await updateRevoked(transaction, { column: 'id', ids: [id] }, now);
    let generation = [id];
    while (generation.length > 0) {
      const selection = { column: 'parentTokenId', ids: generation } as const;
      const children = await updateRevoked(transaction, selection, now);
      revoked.push(...children);
      generation = children.map((child) => child.id);
    }
    const actions = revoked.map((token) => revocationOf(token, id, now));
    await recordAuditEntries(transaction, actor, actions, now);
  });
}

function revocationOf(token: { id: string; name: string }, rootId: string, now: Date): AuditedAction {
  return {
    act: 'access-token.revoked',
    subject: { kind: 'access token', id: encodeId('token', token.id), name: token.name },
    changes: {
      revokedUtc: { after: now.toISOString() },
      ...(token.id !== rootId && { revokedWith: { after: encodeId('token', rootId) } }),
    },
  };
}

/** Throws all violations of a token's name, scopes and expiry. */
export function checkTokenInput(input: AccessTokenCreateInput, now: Date): void {
  const violations = new Violations();
  checkText(violations, 'name', input.name, { min: 1, max: limits.name, trimmed: true });
  violations.addUnless(input.scopes.length > 0, 'scopes', `must name at least one of ${scopes.join(', ')}`);
  for (const scope of input.scopes.filter((scope) => !isScope(scope))) {
    violations.add(
      'scopes',
      `${JSON.stringify(scope.slice(0, 50))} is not a scope; the scopes are ${scopes.join(', ')}${suggestionFor(scope, scopes)}`,
    );
  }
  violations.addUnless(!input.expiresUtc || input.expiresUtc > now, 'expiresUtc', 'must be in the future');
  violations.throwIfAny();
}

/** Creates a token and its audit entry. The caller has checked that it may be created. */
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
    /** The secret, if the caller has made and stored it already. */
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

/** A secret of 192 random bits, without characters at which a double click would end the selection. */
export function newTokenText(): string {
  return `wg_${randomBytes(24).toString('hex')}`;
}

async function holderOf(
  db: TenantDb,
  principal: Principal,
  memberId: string | null | undefined,
): Promise<string> {
  if (!memberId || memberId === encodeId('member', principal.memberId)) return principal.userAccountId;
  if (!mayAdministerTokens(principal)) {
    raise(
      'forbidden',
      'Only owners and admins may create tokens for other members, with the scope workspace:admin.',
    );
  }
  const id = decodeId('member', memberId);
  if ('problem' in id)
    raise('validation_failed', `memberId: ${id.problem}.`, [{ field: 'memberId', message: id.problem }]);
  const member = await selectMemberCard(db, { column: 'id', value: id.uuid });
  if (!member || !mayUseTokens(member)) {
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

function mayAdministerTokens(principal: Principal): boolean {
  return isManager(principal) && principal.scopes.has('workspace:admin');
}

/** Whether a member can use tokens. Suspended and removed members cannot. */
export function mayUseTokens({ status }: Pick<MemberCard, 'status'>): boolean {
  return status === memberStatus.active || status === memberStatus.invited;
}
