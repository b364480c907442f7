import { defineCommand } from 'citty';
import { selectAccessToken, selectAccessTokens, selectTokenWorkspace } from '../db/access-tokens.ts';
import type { MemberCard } from '../db/workspaces.ts';
import { checkTokenInput, issueToken, revokeFamily, mayUseTokens } from '../resolvers/access-tokens.ts';
import { memberRole } from '../model/codes.ts';
import { scopes as allScopes } from '../resolvers/context.ts';
import { decodeId, encodeId } from '../resolvers/ids.ts';
import { actorOf, databaseCommand } from './environment.ts';
import { CommandError, readingFlags, UsageError } from './failures.ts';
import { findMember, findOwner, findWorkspace } from './lookup.ts';
import { table } from './table.ts';
import { timeOf } from './times.ts';

const workspace = {
  type: 'string',
  description: 'The workspace, by name or id; may be omitted if there is only one',
} as const;

const create = databaseCommand({
  name: 'token create',
  description: 'Create an access token; its secret is shown only once',
  args: {
    workspace,
    member: {
      type: 'string',
      description: 'The member that it belongs to, by e-mail address, name or id; the owner by default',
    },
    name: { type: 'string', default: 'command line', description: 'The name of the token' },
    scopes: {
      type: 'string',
      description: 'Its scopes; all by default, but workspace:admin only for an owner or admin',
    },
    expires: {
      type: 'string',
      description: 'When it expires: a time such as 2027-01-31T00:00:00Z, or days such as 30d',
    },
    json: { type: 'boolean', description: 'Print one object: id, token, scopes and so on' },
  },
  async run(env, args) {
    const { database, stdout, stderr } = env;
    const { id: workspaceId } = await findWorkspace(database, args.workspace);
    const db = database.of(workspaceId);
    const member = args.member ? await findMember(db, args.member) : await findOwner(db);
    if (!mayUseTokens(member))
      throw new CommandError(`${member.displayName} is suspended or removed and cannot use a token.`);
    const now = new Date();
    const scopes = args.scopes?.split(/[\s,]+/).filter((scope) => scope !== '') ?? usualScopes(member);
    const input = {
      name: args.name,
      scopes,
      expiresUtc: args.expires ? timeOf('--expires', args.expires, now, 1) : undefined,
    };
    await readingFlags(() => checkTokenInput(input, now));
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
      const of = { workspaceId: encodeId('workspace', workspaceId), memberId };
      stdout(
        `${JSON.stringify({ id, token, name, scopes: issued.accessToken.scopes, expiresUtc, ...of })}\n`,
      );
    } else {
      stderr(
        `Created ${id} for ${member.displayName}: ${scopes.join(', ')}. This is its secret, shown only now:\n`,
      );
      stdout(`${token}\n`);
    }
    return 0;
  },
});

/** All scopes that the member's role allows: `workspace:admin` only for owners and admins. */
function usualScopes({ role }: Pick<MemberCard, 'role'>): readonly string[] {
  return allScopes.filter((scope) => scope !== 'workspace:admin' || role <= memberRole.admin);
}

const list = databaseCommand({
  name: 'token list',
  description: 'List the access tokens of a workspace, newest first',
  args: { workspace, json: { type: 'boolean', description: 'Print an array of objects' } },
  async run({ database, stdout }, args) {
    const { id: workspaceId } = await findWorkspace(database, args.workspace);
    const tokens = (await selectAccessTokens(database.of(workspaceId))).map(({ id, memberId, ...token }) => ({
      id: encodeId('token', id),
      ...token,
      memberId: encodeId('member', memberId),
    }));
    if (args.json) stdout(`${JSON.stringify(tokens)}\n`);
    else {
      const day = (time: Date | null) => time?.toISOString().slice(0, 10) ?? '';
      const rows = tokens.map((token) => [
        token.id,
        token.name,
        token.displayName,
        token.revokedUtc
          ? `revoked ${day(token.revokedUtc)}`
          : token.expiresUtc
            ? `until ${day(token.expiresUtc)}`
            : 'valid',
        day(token.lastUsedUtc),
        token.scopes.join(','),
      ]);
      stdout(table(['ID', 'NAME', 'MEMBER', 'STATE', 'LAST USED', 'SCOPES'], rows));
    }
    return 0;
  },
});

const revoke = databaseCommand({
  name: 'token revoke',
  description: 'Revoke an access token and all tokens that were created with it',
  args: {
    id: { type: 'positional', required: true, description: 'The id of the token: token_…' },
    json: { type: 'boolean', description: 'Print one object: id and revokedUtc' },
  },
  async run(env, args) {
    const { database, stdout, stderr } = env;
    const id = decodeId('token', args.id);
    if ('problem' in id) throw new UsageError(`The id of the token: ${id.problem}.`);
    const workspaceId = await selectTokenWorkspace(database.unscoped, id.uuid);
    if (!workspaceId)
      throw new CommandError(
        `There is no access token ${args.id}; \`npx workgraph token list\` shows those that there are.`,
      );
    const db = database.of(workspaceId);
    await revokeFamily(db, actorOf(env), { id: id.uuid }, new Date());
    const token = await selectAccessToken(db, id.uuid);
    if (args.json) stdout(`${JSON.stringify({ id: args.id, revokedUtc: token?.revokedUtc })}\n`);
    else stderr(`Revoked ${args.id} and all tokens that were created with it.\n`);
    return 0;
  },
});

export const command = defineCommand({
  meta: { name: 'token' },
  subCommands: { create, list, revoke },
});
