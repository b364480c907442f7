import { resolve } from 'node:path';
import { encodeId } from '../resolvers/ids.ts';
import { demoToken, ownerToken } from './demo/demo-workspace.ts';
import { actorOf, type CommandEnvironment } from './environment.ts';
import { seedDemo } from './demo/seed-demo.ts';

interface SeedArguments {
  /** The directory with the user's own files, instead of the demo's. */
  readonly from?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Adds the demo workspace, or one from a directory of files, and prints the token of its owner. */
export async function runSeed(env: CommandEnvironment, { from, json }: SeedArguments): Promise<number> {
  const { database, dataDir, store, stdout, stderr } = env;
  const actor = actorOf(env);
  const directory = from === undefined ? undefined : resolve(env.cwd, from);
  const workspaceId = await seedDemo(database, { store, actor, onMessage: stderr, from: directory });
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
}
