import { exportDirectory } from '../resolvers/export-directory.ts';
import { exportIssues } from '../resolvers/export-issues.ts';
import { encodeId } from '../resolvers/ids.ts';
import { type CommandEnvironment, databaseCommand } from './environment.ts';
import { exitCodes } from './failures.ts';
import { ndjsonVersion } from './import/ndjson.ts';
import { requireTeam } from './import/team.ts';
import { findWorkspace } from './lookup.ts';

export interface ExportArguments {
  readonly workspace?: string | undefined;
  readonly team?: string | undefined;
}

/** Writes a header and then a line for each living issue, page by page. */
export async function runExport(env: CommandEnvironment, args: ExportArguments): Promise<number> {
  const { id: workspaceId, name } = await findWorkspace(env.database, args.workspace);
  const only = args.team === undefined ? undefined : await requireTeam(env.database, workspaceId, args.team);
  const { teams, directory } = await exportDirectory(env.database, workspaceId, only?.id);
  const workspace = { id: encodeId('workspace', workspaceId), name };
  const header = {
    _type: 'header',
    format: 'workgraph',
    version: ndjsonVersion,
    workspace,
    exportedUtc: new Date(),
    directory,
  };
  env.stdout(`${JSON.stringify(header)}\n`);
  let issues = 0;
  for (const team of teams) {
    for await (const record of exportIssues(env.database, workspaceId, team)) {
      if (env.signal.aborted) return exitCodes.interrupted;
      env.stdout(`${JSON.stringify(record)}\n`);
      issues += 1;
    }
  }
  env.stderr(`${issues} issues of ${teams.length} ${teams.length === 1 ? 'team' : 'teams'} exported\n`);
  return exitCodes.done;
}

export const command = databaseCommand({
  name: 'export',
  description:
    'Write issues with comments, links and labels, as lines of JSON that `import --from ndjson` reads',
  args: {
    workspace: { type: 'string', description: 'The workspace, by name or id; the only one when left out' },
    team: {
      type: 'string',
      description: 'The code of one team; all of them when left out',
      valueHint: 'CODE',
    },
  },
  run: runExport,
});
