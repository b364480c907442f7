import { selectTeamCodes, selectTeamsByCode } from '../../db/imports.ts';
import type { Row } from '../../db/tables/tables.ts';
import { applyDirectory } from '../../portability/directory/directory.ts';
import { parseDirectory } from '../../portability/directory/directory-file.ts';
import { actorOf, type CommandEnvironment } from '../environment.ts';
import { listExisting } from '../../model/nearest.ts';
import { asSentence } from '../../model/sentences.ts';
import { CommandError } from '../failures.ts';

/**
 * Finds the team with a code, in upper or lower case. If there is none, creates it with the name `createName`, if any.
 */
export async function requireTeam(
  env: Pick<CommandEnvironment, 'database' | 'operator'>,
  workspaceId: string,
  code: string,
  createName?: string,
): Promise<Row<'team'>> {
  const { database } = env;
  const teamCode = code.trim().toUpperCase();
  const find = async () => (await selectTeamsByCode(database.of(workspaceId), [teamCode]))[0];
  const existing = await find();
  if (existing) return existing;
  if (createName !== undefined) {
    await applyDirectory(
      database,
      actorOf(env),
      parseDirectory({ teams: [{ code: teamCode, name: createName }] }),
      {
        workspaceId,
        keepExisting: true,
        origin: 'import',
      },
    );
  }
  const created = await find();
  if (created) return created;
  const codes = await selectTeamCodes(database.of(workspaceId));
  const message = asSentence(`The workspace has no team ${teamCode}${listExisting(teamCode, codes)}`);
  throw new CommandError(
    `${message} Create it with \`npx workgraph directory apply\`, or use --create-team NAME.`,
  );
}
