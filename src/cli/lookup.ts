import type { Database } from '../db/engine/engine.ts';
import type { TenantDb } from '../db/tables/tenant-tables.ts';
import type { Row } from '../db/tables/tables.ts';
import { type MemberCard, selectMemberCards, selectMembersBy, selectWorkspaces } from '../db/workspaces.ts';
import { memberRole } from '../model/codes.ts';
import { fold } from '../model/fold.ts';
import { parseId } from '../resolvers/ids.ts';
import { CommandError, UsageError } from './failures.ts';

type WorkspaceCard = Pick<Row<'workspace'>, 'id' | 'name'>;

/** Finds a workspace by id or name; without either, the only workspace of the database. */
export async function findWorkspace(
  { unscoped }: Database,
  named: string | undefined,
): Promise<WorkspaceCard> {
  const workspaces = await selectWorkspaces(unscoped);
  const [only, second] = named ? workspaces.filter((workspace) => isNamed(workspace, named)) : workspaces;
  if (only && !second) return only;
  if (only && named) throw new CommandError(`Several workspaces are called ${named}; use an id instead.`);
  if (only)
    throw new UsageError('There are several workspaces: choose one with --workspace (a name or an id).');
  throw new CommandError(
    named
      ? `There is no workspace ${named}.`
      : 'There is no workspace yet: create one with `npx workgraph workspace create --name …`.',
  );
}

/** Finds a member by id, account, e-mail address or name; without any, the first owner. */
export async function findMember(db: TenantDb, named: string | undefined): Promise<MemberCard> {
  if (!named) {
    const [first] = await selectMemberCards(db);
    if (first?.role === memberRole.owner) return first;
    throw new CommandError('The workspace has no owner; choose a member with --member.');
  }
  for (const key of memberKeys(named)) {
    const [member, other] = await selectMembersBy(db, key);
    if (other)
      throw new CommandError(`Several members are called ${named}; use an e-mail address or an id instead.`);
    if (member) return member;
  }
  throw new CommandError(`The workspace has no member ${named}; there are ${await someMembers(db)}.`);
}

/** The names of members, for a message. */
async function someMembers(db: TenantDb): Promise<string> {
  const names = (await selectMemberCards(db)).map(({ displayName }) => displayName);
  const shown = names.slice(0, mostShown).join(', ');
  return names.length > mostShown ? `${shown} and ${names.length - mostShown} others` : shown;
}

const mostShown = 5;

function isNamed({ id, name }: WorkspaceCard, named: string): boolean {
  const parsed = parseId(named);
  return (parsed?.prefix === 'workspace' && parsed.uuid === id) || fold(name) === fold(named.trim());
}

/** What `named` may be, in the order in which it is tried. */
function memberKeys(named: string) {
  const id = parseId(named);
  if (id?.prefix === 'member') return [{ column: 'id', value: id.uuid }] as const;
  if (id?.prefix === 'user') return [{ column: 'userAccountId', value: id.uuid }] as const;
  const value = fold(named.trim());
  return [
    { column: 'emailAddressFold', value },
    { column: 'displayNameFold', value },
  ] as const;
}
