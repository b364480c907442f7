import { defineCommand } from 'citty';
import { selectWorkspaces } from '../db/workspaces.ts';
import { encodeId } from '../resolvers/ids.ts';
import { resetChanges } from '../resolvers/changes-reset.ts';
import { actorOf, databaseCommand } from './environment.ts';
import { findWorkspace } from './lookup.ts';

const reset = databaseCommand({
  name: 'changes reset',
  description:
    'Start the log of changes over, so that every reader reads its lists again: needed after a version has run that logs nothing',
  args: {
    workspace: { type: 'string', description: 'The workspace, by name or id; all of them if it is omitted' },
    json: { type: 'boolean', description: 'Print an array of objects: workspaceId, name' },
  },
  async run(env, { workspace, json }) {
    const { database, stdout, stderr } = env;
    const workspaces = workspace
      ? [await findWorkspace(database, workspace)]
      : await selectWorkspaces(database.unscoped);
    for (const each of workspaces) await resetChanges(database, each, actorOf(env));
    if (json)
      stdout(
        `${JSON.stringify(workspaces.map(({ id, name }) => ({ workspaceId: encodeId('workspace', id), name })))}\n`,
      );
    else stderr(`The log of changes starts over: ${workspaces.map(({ name }) => name).join(', ')}.\n`);
    return 0;
  },
});

export const command = defineCommand({
  meta: { name: 'changes' },
  subCommands: { reset },
});
