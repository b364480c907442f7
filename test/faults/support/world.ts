import { type Database, openDatabase } from '../../../src/db/engine/engine.ts';
import { migrate } from '../../../src/db/engine/migrate.ts';
import { principalKind } from '../../../src/model/codes.ts';
import { encodeId, newUuid } from '../../../src/resolvers/ids.ts';
import { createWorkspace } from '../../../src/resolvers/workspaces.ts';
import { member, team } from '../../support/fixtures.ts';
import { systemActor } from '../../../src/resolvers/access/audit.ts';

/** The ids of a workspace and a team, and the token of the owner. */
export interface World {
  readonly workspaceId: string;
  readonly ownerUserAccountId: string;
  readonly token: string;
  readonly teamId: string;
}

export type DatabaseLocation = { readonly dataDir: string } | { readonly url: string };

/** Migrates an empty database, which no other process may have open, and adds a workspace. */
export async function makeWorld(location: DatabaseLocation): Promise<World> {
  return withDatabase(location, async (database) => {
    await migrate(database);
    return addWorkspace(database);
  });
}

export async function addWorkspace(database: Database): Promise<World> {
  const owner = { name: 'Faults', ownerDisplayName: 'Olive Owner' };
  const { workspaceId, ownerUserAccountId, ownerToken } = await createWorkspace(database, systemActor, owner);
  const { id } = await team(database, workspaceId, { code: 'ENG' });
  await installAgent(database, workspaceId);
  return { workspaceId, ownerUserAccountId, token: ownerToken.token, teamId: encodeId('team', id) };
}

export async function withDatabase<Result>(
  location: DatabaseLocation,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = await openDatabase(location);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Installs the agent that receives the messages of threads. */
async function installAgent(database: Database, workspaceId: string): Promise<void> {
  const { userAccountId } = await member(database, workspaceId, { displayName: 'Agent Smith' });
  await database.unscoped
    .updateTable('member')
    .set({ principalKind: principalKind.agent })
    .where('workspaceId', '=', workspaceId)
    .where('userAccountId', '=', userAccountId)
    .execute();
  const installation = { workspaceId, id: newUuid(), applicationId: newUuid(), isDefault: true };
  await database.unscoped
    .insertInto('agentInstallation')
    .values({ ...installation, agentUserAccountId: userAccountId })
    .execute();
}
