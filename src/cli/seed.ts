import { resolve } from 'node:path';
import { encodeId } from '../resolvers/ids.ts';
import { demoToken, ownerToken } from './demo-workspace.ts';
import { actorOf, databaseCommand } from './environment.ts';
import { seedDemo } from './seed-demo.ts';

export const command = databaseCommand({
  name: 'seed',
  args: {
    from: {
      type: 'string',
      valueHint: 'DIRECTORY',
      description:
        'A directory with your own directory.yaml, issues.ndjson and attached files, instead of the demo',
    },
    json: { type: 'boolean', description: 'Print one object: the id of the workspace and the token' },
  },
  async run(env, { from, json }) {
    const { database, dataDir, store, stdout, stderr } = env;
    const actor = actorOf(env);
    const directory = from === undefined ? undefined : resolve(env.cwd, from);
    const { workspaceId } = await seedDemo(database, { store, actor, say: stderr, from: directory });
    // The data directory stores only the token of the demo, which the next start prints again.
    const token =
      directory === undefined
        ? await demoToken(database, dataDir, actor, workspaceId)
        : await ownerToken(database, actor, workspaceId);
    const id = encodeId('workspace', workspaceId);
    if (json) stdout(`${JSON.stringify({ id, token })}\n`);
    else {
      stderr(`Created the workspace ${id}. The token of its owner:\n`);
      stdout(`${token}\n`);
    }
    return 0;
  },
});
