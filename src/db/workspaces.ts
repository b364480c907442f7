import type { Kysely } from 'kysely';
import type { Row, Tables } from './tables/tables.ts';
import type { NewRow, TenantDb } from './tables/tenant-tables.ts';

export type MemberCard = Pick<
  Row<'member'>,
  'id' | 'userAccountId' | 'displayName' | 'emailAddress' | 'role' | 'status'
>;

/** All workspaces of the database, ordered by name, for commands of the operator. */
export function selectWorkspaces(
  unscoped: Kysely<Tables>,
): Promise<Pick<Row<'workspace'>, 'id' | 'name' | 'createdUtc'>[]> {
  return unscoped
    .selectFrom('workspace')
    .select(['id', 'name', 'createdUtc'])
    .orderBy('name')
    .orderBy('id')
    .execute();
}

export async function insertWorkspace(db: TenantDb, workspace: NewRow<'workspace'>): Promise<void> {
  await db.insertInto('workspace').values(workspace).execute();
}

/** Inserts an account and its member. */
export async function insertMember(db: TenantDb, member: NewRow<'member'>): Promise<void> {
  await db.insertInto('userAccount').values({ id: member.userAccountId }).execute();
  await db.insertInto('member').values(member).execute();
}

/** The members of a workspace, ordered by role, the highest first, then by creation time. */
export function selectMemberCards(db: TenantDb): Promise<MemberCard[]> {
  return db
    .selectFrom('member as m')
    .select(['m.id', 'm.userAccountId', 'm.displayName', 'm.emailAddress', 'm.role', 'm.status'])
    .orderBy('m.role')
    .orderBy('m.createdUtc')
    .orderBy('m.id')
    .execute();
}

export async function selectMemberCard(
  db: TenantDb,
  by: { column: 'id' | 'userAccountId'; value: string },
): Promise<MemberCard | undefined> {
  return (await selectMembersBy(db, by))[0];
}

/** The members with an id, an account, an e-mail address or a name; several members may have the same name. */
export function selectMembersBy(
  db: TenantDb,
  {
    column,
    value,
  }: { column: 'id' | 'userAccountId' | 'emailAddressFold' | 'displayNameFold'; value: string },
): Promise<MemberCard[]> {
  return db
    .selectFrom('member as m')
    .select(['m.id', 'm.userAccountId', 'm.displayName', 'm.emailAddress', 'm.role', 'm.status'])
    .where(`m.${column}`, '=', value)
    .orderBy('m.id')
    .execute();
}
