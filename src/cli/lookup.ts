import type { Database } from '../db/engine/engine.ts';
import type { TenantDb } from '../db/tables/tenant-tables.ts';
import type { Row } from '../db/tables/tables.ts';
import { type MemberCard, selectMemberCards, selectMembersBy, selectWorkspaces } from '../db/workspaces.ts';
import { memberRole } from '../model/codes.ts';
import { fold } from '../model/fold.ts';
import { listExisting } from '../model/nearest.ts';
import { asSentence } from '../model/sentences.ts';
import { mayUseTokens } from '../resolvers/access/access-tokens.ts';
import { parseId } from '../resolvers/ids.ts';
import { CommandError, UsageError } from './failures.ts';

type NamedWorkspace = Pick<Row<'workspace'>, 'id' | 'name'>;

/** Finds a workspace by id or name; without either, the only workspace of the database. */
export async function findWorkspace(
  { unscoped }: Database,
  nameOrId: string | undefined,
): Promise<NamedWorkspace> {
  const workspaces = await selectWorkspaces(unscoped);
  const [only, second] = nameOrId
    ? workspaces.filter((workspace) => isNamed(workspace, nameOrId))
    : workspaces;
  if (only && !second) return only;
  if (only && nameOrId)
    throw new CommandError(`Several workspaces are called ${nameOrId}; use an id instead.`);
  if (only)
    throw new UsageError('There are several workspaces: choose one with --workspace (a name or an id).');
  if (!nameOrId || workspaces.length === 0)
    throw new CommandError(
      'There is no workspace yet: create one with `npx workgraph workspace create --name …`.',
    );
  const names = workspaces.map(({ name }) => name);
  throw new CommandError(asSentence(`There is no workspace ${nameOrId}${listExisting(nameOrId, names)}`));
}

/** The first owner of a workspace who may use tokens. */
export async function findOwner(db: TenantDb): Promise<MemberCard> {
  const members = await selectMemberCards(db);
  const owner = members.find((member) => member.role === memberRole.owner && mayUseTokens(member));
  if (owner) return owner;
  throw new CommandError('The workspace has no active owner; choose a member with --member.');
}

/** Finds a member by id, account, e-mail address or name. Returns undefined if no member has it. */
export async function findMemberIfAny(db: TenantDb, nameOrId: string): Promise<MemberCard | undefined> {
  for (const key of memberKeys(nameOrId)) {
    const [member, other] = await selectMembersBy(db, key);
    if (other)
      throw new CommandError(
        `Several members are called ${nameOrId}; use an e-mail address or an id instead.`,
      );
    if (member) return member;
  }
  return undefined;
}

/** Finds a member by id, account, e-mail address or name. */
export async function findMember(db: TenantDb, nameOrId: string): Promise<MemberCard> {
  const member = await findMemberIfAny(db, nameOrId);
  if (member) return member;
  throw await noMemberError(db, nameOrId);
}

/** The error for a member that does not exist. */
export async function noMemberError(db: TenantDb, nameOrId: string): Promise<CommandError> {
  const names = (await selectMemberCards(db)).map(({ displayName }) => displayName);
  return new CommandError(
    asSentence(`The workspace has no member ${nameOrId}${listExisting(nameOrId, names)}`),
  );
}

function isNamed({ id, name }: NamedWorkspace, nameOrId: string): boolean {
  const parsed = parseId(nameOrId);
  return (parsed?.prefix === 'workspace' && parsed.uuid === id) || fold(name) === fold(nameOrId.trim());
}

/** What `nameOrId` may be, in the order in which it is tried. */
function memberKeys(nameOrId: string) {
  const id = parseId(nameOrId);
  if (id?.prefix === 'member') return [{ column: 'id', value: id.uuid }] as const;
  if (id?.prefix === 'user') return [{ column: 'userAccountId', value: id.uuid }] as const;
  const value = fold(nameOrId.trim());
  return [
    { column: 'emailAddressFold', value },
    { column: 'displayNameFold', value },
  ] as const;
}
