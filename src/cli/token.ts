import { selectAccessToken, selectAccessTokens, selectTokenWorkspace } from '../db/access-tokens.ts';
import type { MemberCard } from '../db/workspaces.ts';
import {
  checkTokenInput,
  issueToken,
  revokeWithDescendants,
  mayUseTokens,
} from '../resolvers/access/access-tokens.ts';
import { isManager } from '../resolvers/access/managers.ts';
import { scopes as allScopes } from '../resolvers/context.ts';
import { decodeId, encodeId } from '../resolvers/ids.ts';
import { actorOf, type CommandEnvironment } from './environment.ts';
import { CommandError, withUsageErrors, UsageError } from './failures.ts';
import { findMember, findOwner, findWorkspace } from './lookup.ts';
import { table } from './table.ts';
import { parseTimeFlag } from './times.ts';

interface CreateArguments {
  readonly workspace?: string | undefined;
  readonly member?: string | undefined;
  readonly name: string;
  readonly scopes?: string | undefined;
  readonly expires?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Creates an access token, and prints its secret. */
export async function createToken(env: CommandEnvironment, args: CreateArguments): Promise<number> {
  const { database, stdout, stderr } = env;
  const { id: workspaceId } = await findWorkspace(database, args.workspace);
  const db = database.of(workspaceId);
  const member = args.member ? await findMember(db, args.member) : await findOwner(db);
  if (!mayUseTokens(member))
    throw new CommandError(`${member.displayName} is suspended or removed and cannot use a token.`);
  const now = new Date();
  const scopes = args.scopes?.split(/[\s,]+/).filter((scope) => scope !== '') ?? defaultScopes(member);
  const input = {
    name: args.name,
    scopes,
    expiresUtc: args.expires ? parseTimeFlag('--expires', args.expires, now, 1) : undefined,
  };
  await withUsageErrors(() => checkTokenInput(input, now));
  const { userAccountId } = member;
  const issued = await issueToken(db, actorOf(env), {
    ...input,
    userAccountId,
    parentTokenId: null,
  });
  const id = encodeId('token', issued.accessToken.id);
  const { token } = issued;
  if (args.json) {
    const { name, expiresUtc } = issued.accessToken;
    const memberId = encodeId('member', member.id);
    const holder = { workspaceId: encodeId('workspace', workspaceId), memberId };
    stdout(
      `${JSON.stringify({ id, token, name, scopes: issued.accessToken.scopes, expiresUtc, ...holder })}\n`,
    );
  } else {
    stderr(
      `Created ${id} for ${member.displayName}: ${scopes.join(', ')}. This is its secret, shown only now:\n`,
    );
    stdout(`${token}\n`);
  }
  return 0;
}

/** All scopes that the member's role allows: `workspace:admin` only for owners and admins. */
function defaultScopes(member: Pick<MemberCard, 'role'>): readonly string[] {
  return allScopes.filter((scope) => scope !== 'workspace:admin' || isManager(member));
}

interface ListArguments {
  readonly workspace?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Prints the access tokens of a workspace, newest first. */
export async function listTokens(
  { database, stdout }: CommandEnvironment,
  args: ListArguments,
): Promise<number> {
  const { id: workspaceId } = await findWorkspace(database, args.workspace);
  const tokens = (await selectAccessTokens(database.of(workspaceId))).map(({ id, memberId, ...token }) => ({
    id: encodeId('token', id),
    ...token,
    memberId: encodeId('member', memberId),
  }));
  if (args.json) stdout(`${JSON.stringify(tokens)}\n`);
  else {
    const rows = tokens.map((token) => [
      token.id,
      token.name,
      token.displayName,
      stateOf(token),
      minute(token.lastUsedUtc),
      token.scopes.join(','),
    ]);
    stdout(table(['ID', 'NAME', 'MEMBER', 'STATE', 'LAST USED', 'SCOPES'], rows));
  }
  return 0;
}

const day = (time: Date | null) => time?.toISOString().slice(0, 10) ?? '';
const minute = (time: Date | null) => time?.toISOString().slice(0, 16).replace('T', ' ') ?? '';

function stateOf({ revokedUtc, expiresUtc }: { revokedUtc: Date | null; expiresUtc: Date | null }): string {
  if (revokedUtc) return `revoked ${day(revokedUtc)}`;
  if (!expiresUtc) return 'valid';
  return `${expiresUtc.getTime() <= Date.now() ? 'expired' : 'until'} ${day(expiresUtc)}`;
}

interface RevokeArguments {
  readonly id: string;
  readonly json?: boolean | undefined;
}

/** Revokes an access token, and those that were created with it. */
export async function revokeToken(env: CommandEnvironment, args: RevokeArguments): Promise<number> {
  const { database, stdout, stderr } = env;
  const id = decodeId('token', args.id);
  if ('problem' in id) throw new UsageError(`The id of the token: ${id.problem}.`);
  const workspaceId = await selectTokenWorkspace(database.unscoped, id.uuid);
  if (!workspaceId)
    throw new CommandError(
      `There is no access token ${args.id}; \`npx workgraph token list\` shows those that there are.`,
    );
  const db = database.of(workspaceId);
  await revokeWithDescendants(db, actorOf(env), { id: id.uuid }, new Date());
  const token = await selectAccessToken(db, id.uuid);
  if (args.json) stdout(`${JSON.stringify({ id: args.id, revokedUtc: token?.revokedUtc })}\n`);
  else stderr(`Revoked ${args.id} and all tokens that were created with it.\n`);
  return 0;
}
