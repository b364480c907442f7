import { encodeId } from '../resolvers/ids.ts';
import { addDemo, demoToken } from './demo-workspace.ts';
import { databaseCommand } from './environment.ts';

export const command = databaseCommand({
  name: 'seed',
  description: 'Add the demo workspace to the database; its token is kept in the data directory too',
  args: { json: { type: 'boolean', description: 'Print one object: id of the workspace, and token' } },
  async run({ database, dataDir, store, stdout, stderr }, { json }) {
    const workspaceId = await addDemo(database, store, stderr);
    const token = await demoToken(database, dataDir, workspaceId);
    const id = encodeId('workspace', workspaceId);
    if (json) stdout(`${JSON.stringify({ id, token })}\n`);
    else {
      stderr(`Made the demo workspace, ${id}. Its owner's token:\n`);
      stdout(`${token}\n`);
    }
    return 0;
  },
});
