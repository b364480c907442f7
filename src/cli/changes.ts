import { selectWorkspaces } from '../db/workspaces.ts';
import { encodeId } from '../resolvers/ids.ts';
import { resetChanges } from '../resolvers/changes/changes-reset.ts';
import { actorOf, type CommandEnvironment } from './environment.ts';
import { findWorkspace } from './lookup.ts';

interface ResetArguments {
  readonly workspace?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Starts the log of changes of one or all workspaces over. */
export async function runChangesReset(
  env: CommandEnvironment,
  { workspace, json }: ResetArguments,
): Promise<number> {
  const { database, stdout, stderr } = env;
  const workspaces = workspace
    ? [await findWorkspace(database, workspace)]
    : await selectWorkspaces(database.unscoped);
  for (const workspaceRow of workspaces) await resetChanges(database, workspaceRow, actorOf(env));
  if (json)
    stdout(
      `${JSON.stringify(workspaces.map(({ id, name }) => ({ workspaceId: encodeId('workspace', id), name })))}\n`,
    );
  else stderr(`The log of changes starts over: ${workspaces.map(({ name }) => name).join(', ')}.\n`);
  return 0;
}
