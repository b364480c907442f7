import type { Database } from '../../src/db/engine/engine.ts';
import { type memberRole, type memberStatus, principalKind } from '../../src/model/codes.ts';
import { fold } from '../../src/model/fold.ts';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import type { App, TestWorkspace } from './app.ts';
import { member, team } from './fixtures.ts';

/** A workspace with everything that an issue can refer to, by TypeID, and with people who have tokens. */
export type IssueWorld = Awaited<ReturnType<typeof issueWorld>>;

export async function issueWorld(app: App, workspace: TestWorkspace = app) {
  const { database } = app;
  const { workspaceId } = workspace;
  const person = (displayName: string, options: PersonOptions = {}) =>
    newPerson(app, workspace, displayName, options);
  const eng = await newTeam(database, workspaceId, 'ENG');
  const ops = await newTeam(database, workspaceId, 'OPS');
  return {
    workspaceId,
    owner: { id: encodeId('user', workspace.ownerUserAccountId), token: workspace.token },
    admin: await person('Adam Admin', { role: 'admin' }),
    ada: await person('Ada Member'),
    bob: await person('Bob Member'),
    guest: await person('Gus Guest', { role: 'guest' }),
    invited: await person('Ines Invited', { status: 'invited' }),
    suspended: await person('Sue Suspended', { status: 'suspended' }),
    removed: await person('Rob Removed', { status: 'removed' }),
    agent: await person('Agent Smith', { kind: 'agent' }),
    otherAgent: await person('Agent Jones', { kind: 'agent' }),
    service: await person('Service', { kind: 'service' }),
    eng,
    ops,
    shared: await newLabel(database, workspaceId, 'Shared', false),
    group: await newLabel(database, workspaceId, 'Group', true),
    ...(await twoProjects(database, workspaceId, eng.uuid)),
  };
}

export interface Person {
  uuid: string;
  /** The id of the account. */
  id: string;
  displayName: string;
  token: string;
}

interface PersonOptions {
  role?: keyof typeof memberRole;
  status?: keyof typeof memberStatus;
  kind?: 'agent' | 'service';
}

async function newPerson(
  app: App,
  workspace: TestWorkspace,
  displayName: string,
  { kind, ...options }: PersonOptions,
): Promise<Person> {
  const { userAccountId } = await member(app.database, workspace.workspaceId, { displayName, ...options });
  if (kind) {
    await app.database.unscoped
      .updateTable('member')
      .set({ principalKind: principalKind[kind] })
      .where('workspaceId', '=', workspace.workspaceId)
      .where('userAccountId', '=', userAccountId)
      .execute();
  }
  const token = await app.tokenFor({ userAccountId, workspace });
  return { uuid: userAccountId, id: encodeId('user', userAccountId), displayName, token };
}

/** Installs an agent as the workspace's default. */
export async function installAgent(app: App, { workspaceId }: IssueWorld, agent: Person) {
  const [id, applicationId] = [newUuid(), newUuid()];
  const installation = { workspaceId, id, applicationId, agentUserAccountId: agent.uuid, isDefault: true };
  await app.database.unscoped.insertInto('agentInstallation').values(installation).execute();
  return { id: encodeId('installation', id), applicationId: encodeId('app', applicationId) };
}

/** A team with its statuses, labels and deliveries. */
export async function newTeam(database: Database, workspaceId: string, code: string) {
  const created = await team(database, workspaceId, { code });
  const delivery = async (number: number) => {
    const id = newUuid();
    const name = `${code} sprint ${number}`;
    const dates = { startsOn: '2026-01-01', endsOn: '2026-01-14', state: 1 };
    await database.unscoped
      .insertInto('delivery')
      .values({ workspaceId, id, teamId: created.id, number, name, nameFold: fold(name), ...dates })
      .execute();
    return encodeId('delivery', id);
  };
  const status = (name: keyof typeof created.statuses) => encodeId('status', created.statuses[name]);
  return {
    uuid: created.id,
    id: encodeId('team', created.id),
    todo: status('Todo'),
    doing: status('Doing'),
    done: status('Done'),
    canceled: status('Canceled'),
    bug: encodeId('label', created.labels.Bug),
    feature: encodeId('label', created.labels.Feature),
    sprint1: await delivery(1),
    sprint2: await delivery(2),
  };
}

async function newLabel(
  { unscoped: db }: Database,
  workspaceId: string,
  name: string,
  isGroup: boolean,
): Promise<string> {
  const id = newUuid();
  await db
    .insertInto('label')
    .values({ workspaceId, id, teamId: null, isGroup, name, nameFold: fold(name) })
    .execute();
  return encodeId('label', id);
}

async function twoProjects({ unscoped: db }: Database, workspaceId: string, teamId: string) {
  const statusId = newUuid();
  const status = { workspaceId, id: statusId, name: 'Active', nameFold: 'active', state: 2, position: 0 };
  await db.insertInto('projectStatus').values(status).execute();
  const project = async (name: string) => {
    const id = newUuid();
    const names = { name, nameFold: fold(name), key: name.toUpperCase(), slug: fold(name) };
    await db
      .insertInto('project')
      .values({ workspaceId, id, teamId, ...names, statusId, state: 2, statusPosition: 0 })
      .execute();
    return encodeId('project', id);
  };
  const created = { apollo: await project('Apollo'), gemini: await project('Gemini') };
  await db
    .updateTable('team')
    .set({ activeProjectCount: 2 })
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', teamId)
    .execute();
  return created;
}
