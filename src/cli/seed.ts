import { encodeId } from '../resolvers/ids.ts';
import { addDemo, isEmpty } from './demo-workspace.ts';
import { databaseCommand } from './environment.ts';
import { CommandError } from './failures.ts';

export const command = databaseCommand({
  name: 'seed',
  description: 'Fill an empty database with the demo workspace; its token goes to the data directory too',
  args: { json: { type: 'boolean', description: 'Print one object: id of the workspace, and token' } },
  async run({ database, dataDir, stdout, stderr }, { json }) {
    if (!(await isEmpty(database))) {
      throw new CommandError('There are workspaces in the database already; the demo is for an empty one.');
    }
    const { workspaceId, token } = await addDemo(database, dataDir);
    const id = encodeId('workspace', workspaceId);
    if (json) stdout(`${JSON.stringify({ id, token })}\n`);
    else {
      stderr(`Made the demo workspace, ${id}. Its owner's token:\n`);
      stdout(`${token}\n`);
    }
    return 0;
  },
});
