import { selectWorkspaces } from '../db/workspaces.ts';
import { encodeId } from '../resolvers/ids.ts';
import { createWorkspace } from '../resolvers/workspaces.ts';
import { actorOf, type CommandEnvironment } from './environment.ts';
import { withUsageErrors } from './failures.ts';
import { table } from './table.ts';

interface CreateArguments {
  readonly name: string;
  readonly owner: string;
  readonly 'owner-email'?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Creates a workspace with an owner, and prints the owner's token. */
export async function runWorkspaceCreate(env: CommandEnvironment, args: CreateArguments): Promise<number> {
  const { database, stdout, stderr } = env;
  const created = await withUsageErrors(() =>
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
}

/** Prints the workspaces. */
export async function listWorkspaces(
  { database, stdout }: CommandEnvironment,
  { json }: { readonly json?: boolean | undefined },
): Promise<number> {
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
}
