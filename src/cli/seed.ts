import { encodeId } from '../resolvers/ids.ts';
import { addDemo, demoToken } from './demo-workspace.ts';
import { actorOf, databaseCommand } from './environment.ts';

export const command = databaseCommand({
  name: 'seed',
  description: 'Add the demo workspace to the database; its token is kept in the data directory too',
  args: { json: { type: 'boolean', description: 'Print one object: id of the workspace, and token' } },
  async run(env, { json }) {
    const { database, dataDir, store, stdout, stderr } = env;
    const workspaceId = await addDemo(database, store, actorOf(env), stderr);
    const token = await demoToken(database, dataDir, actorOf(env), workspaceId);
    const id = encodeId('workspace', workspaceId);
    if (json) stdout(`${JSON.stringify({ id, token })}\n`);
    else {
      stderr(`Made the demo workspace, ${id}. Its owner's token:\n`);
      stdout(`${token}\n`);
    }
    return 0;
  },
});
