import type { Kysely } from 'kysely';
import { selectWorkspaces } from '../db/directory.ts';
import type { Row, Tables } from '../db/tables.ts';
import { raise } from './errors.ts';
import { decodeId, parseId } from './ids.ts';

/** The workspace of this id or name; without either the only one that there is. Undefined when there is none. */
export async function findWorkspace(
  unscoped: Kysely<Tables>,
  nameOrId: string | undefined,
): Promise<Row<'workspace'> | undefined> {
  const [found, ...others] = await selectWorkspaces(unscoped, selectorOf(nameOrId));
  if (others.length === 0) return found;
  if (nameOrId === undefined)
    return raise('invalid_request', 'There are several workspaces: say which one (--workspace NAME or ID).');
  return raise(
    'conflict',
    `Several workspaces are called "${nameOrId}": use the id of the one that is meant.`,
  );
}

/** The same; throws `not_found` when there is none. */
export async function requireWorkspace(
  unscoped: Kysely<Tables>,
  nameOrId: string | undefined,
): Promise<Row<'workspace'>> {
  const none = nameOrId === undefined ? 'There is no workspace yet.' : `There is no workspace "${nameOrId}".`;
  return (await findWorkspace(unscoped, nameOrId)) ?? raise('not_found', none);
}

function selectorOf(nameOrId: string | undefined): { id: string } | { name: string } | undefined {
  if (nameOrId === undefined) return undefined;
  if (!parseId(nameOrId)) return { name: nameOrId };
  const decoded = decodeId('workspace', nameOrId);
  return 'uuid' in decoded
    ? { id: decoded.uuid }
    : raise('invalid_request', `--workspace: ${decoded.problem}.`);
}
