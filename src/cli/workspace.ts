import { defineCommand } from 'citty';
import { selectWorkspaces } from '../db/workspaces.ts';
import { encodeId } from '../resolvers/ids.ts';
import { createWorkspace } from '../resolvers/workspaces.ts';
import { actorOf, databaseCommand } from './environment.ts';
import { readingFlags } from './failures.ts';
import { table } from './table.ts';

const create = databaseCommand({
  name: 'workspace create',
  description: 'Create a workspace with an owner, and a token of the owner with all scopes',
  args: {
    name: { type: 'string', required: true, description: 'The name of the workspace' },
    owner: { type: 'string', default: 'Owner', description: 'The display name of the owner' },
    'owner-email': { type: 'string', description: 'The e-mail address of the owner' },
    json: { type: 'boolean', description: 'Print one object: id, name, token and the owner' },
  },
  async run(env, args) {
    const { database, stdout, stderr } = env;
    const created = await readingFlags(() =>
      createWorkspace(database, actorOf(env), {
        name: args.name,
        ownerDisplayName: args.owner,
        ownerEmailAddress: args['owner-email'] || undefined,
      }),
    );
    const { token } = created.ownerToken;
    const id = encodeId('workspace', created.workspaceId);
    const owner = {
      memberId: encodeId('member', created.ownerMemberId),
      userAccountId: encodeId('user', created.ownerUserAccountId),
      displayName: args.owner,
    };
    if (args.json) stdout(`${JSON.stringify({ id, name: args.name, token, owner })}\n`);
    else {
      stderr(`Created the workspace ${args.name}, ${id}. This is the token of its owner, shown only now:\n`);
      stdout(`${token}\n`);
    }
    return 0;
  },
});

const list = databaseCommand({
  name: 'workspace list',
  description: 'List the workspaces',
  args: { json: { type: 'boolean', description: 'Print an array of objects' } },
  async run({ database, stdout }, { json }) {
    const workspaces = (await selectWorkspaces(database.unscoped)).map(({ id, name, createdUtc }) => ({
      id: encodeId('workspace', id),
      name,
      createdUtc: createdUtc.toISOString(),
    }));
    if (json) stdout(`${JSON.stringify(workspaces)}\n`);
    else
      stdout(
        table(
          ['ID', 'NAME', 'CREATED'],
          workspaces.map(({ id, name, createdUtc }) => [id, name, createdUtc]),
        ),
      );
    return 0;
  },
});

export const command = defineCommand({
  meta: { name: 'workspace' },
  subCommands: { create, list },
});
