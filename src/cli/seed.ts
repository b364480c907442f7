import { resolve } from 'node:path';
import { encodeId } from '../resolvers/ids.ts';
import { demoToken, ownerToken } from './demo-workspace.ts';
import { actorOf, databaseCommand } from './environment.ts';
import { seedDemo } from './seed-demo.ts';

export const command = databaseCommand({
  name: 'seed',
  description: 'Add the demo workspace to the database, or one from files of your own (--from)',
  args: {
    from: {
      type: 'string',
      valueHint: 'DIRECTORY',
      description:
        'Files of your own in place of the demo: directory.yaml, issues.ndjson and what they refer to',
    },
    json: { type: 'boolean', description: 'Print one object: id of the workspace, and token' },
  },
  async run(env, { from, json }) {
    const { database, dataDir, store, stdout, stderr } = env;
    const actor = actorOf(env);
    const directory = from === undefined ? undefined : resolve(env.cwd, from);
    const { workspaceId } = await seedDemo(database, { store, actor, say: stderr, from: directory });
    // The data directory keeps the token of the demo alone, which the next start prints again.
    const token =
      directory === undefined
        ? await demoToken(database, dataDir, actor, workspaceId)
        : await ownerToken(database, actor, workspaceId);
    const id = encodeId('workspace', workspaceId);
    if (json) stdout(`${JSON.stringify({ id, token })}\n`);
    else {
      stderr(`Made the workspace ${id}. Its owner's token:\n`);
      stdout(`${token}\n`);
    }
    return 0;
  },
});
