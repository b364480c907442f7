import { randomUUID } from 'node:crypto';
import type { Database } from '../../src/db/engine/engine.ts';
import { insertMember } from '../../src/db/workspaces.ts';
import { memberRole, memberStatus, principalKind, statusCategory, teamState } from '../../src/model/codes.ts';
import { fold } from '../../src/model/fold.ts';
import { newUuid } from '../../src/resolvers/ids.ts';

export interface MemberFixture {
  id: string;
  userAccountId: string;
  displayName: string;
}

/** Adds an active member. The default role is `member`. */
export async function member(
  database: Database,
  workspaceId: string,
  options: { displayName?: string; role?: keyof typeof memberRole; status?: keyof typeof memberStatus } = {},
): Promise<MemberFixture> {
  const { displayName = `Member ${randomUUID().slice(0, 8)}`, role = 'member', status = 'active' } = options;
  const made = { id: newUuid(), userAccountId: newUuid(), displayName };
  await insertMember(database.of(workspaceId), {
    ...made,
    displayNameFold: fold(displayName),
    principalKind: principalKind.user,
    role: memberRole[role],
    status: memberStatus[status],
  });
  return made;
}

export interface TeamFixture {
  id: string;
  code: string;
  name: string;
  /** Ids by name: Backlog, Todo (the initial one), Doing, Done, Canceled. */
  statuses: Readonly<Record<StatusName, string>>;
  /** Ids by name: Bug, Feature. */
  labels: Readonly<Record<LabelName, string>>;
}
type StatusName = keyof typeof statusCategories;
type LabelName = (typeof labelNames)[number];

const statusCategories = {
  Backlog: statusCategory.backlog,
  Todo: statusCategory.open,
  Doing: statusCategory.active,
  Done: statusCategory.completed,
  Canceled: statusCategory.canceled,
} as const;
const labelNames = ['Bug', 'Feature'] as const;

/** Adds an active team with its counter, five statuses and two labels. */
export async function team(
  database: Database,
  workspaceId: string,
  options: { code?: string; name?: string; leadUserAccountId?: string } = {},
): Promise<TeamFixture> {
  const { unscoped: db } = database;
  const { code = `T${randomUUID().replaceAll('-', '').slice(0, 6).toUpperCase()}`, leadUserAccountId } =
    options;
  const name = options.name ?? `Team ${code}`;
  const id = newUuid();
  const row = { workspaceId, id, name, nameFold: fold(name), code, slug: code.toLowerCase() };
  await db
    .insertInto('team')
    .values({ ...row, state: teamState.active, leadUserAccountId: leadUserAccountId ?? null })
    .execute();
  await db.insertInto('teamCounter').values({ workspaceId, teamId: id }).execute();
  const statuses = Object.entries(statusCategories).map(([name, category], position) => ({
    ...named(workspaceId, id, name),
    category,
    position,
    isInitial: name === 'Todo',
    isTerminal: category >= statusCategory.completed,
  }));
  await db.insertInto('status').values(statuses).execute();
  const labels = labelNames.map((name) => named(workspaceId, id, name));
  await db.insertInto('label').values(labels).execute();
  return { id, code, name, statuses: idsByName(statuses), labels: idsByName(labels) };
}

function named(workspaceId: string, teamId: string, name: string) {
  return { workspaceId, id: newUuid(), teamId, name, nameFold: fold(name) };
}

function idsByName<Name extends string>(rows: readonly { name: string; id: string }[]): Record<Name, string> {
  return Object.fromEntries(rows.map(({ name, id }) => [name, id])) as Record<Name, string>;
}
