import { resolve } from 'node:path';
import { inTransaction } from '../db/engine/transaction.ts';
import { countExportedIssues } from '../db/reads/export-reads.ts';
import { recordAuditEntries } from '../resolvers/access/audit.ts';
import { exportDirectory } from '../portability/export/export-directory.ts';
import { ExportFiles } from '../portability/export/export-files.ts';
import { exportIssues } from '../portability/export/export-issues.ts';
import { encodeId } from '../resolvers/ids.ts';
import { omittedWebhooksMessage } from './backup/manifest.ts';
import { writeBackup } from './backup/write.ts';
import { pluralize } from './pluralize.ts';
import { actorOf, type CommandEnvironment } from './environment.ts';
import { exitCodes, UsageError } from './failures.ts';
import { ndjsonVersion } from './import/ndjson.ts';
import { requireTeam } from './import/team.ts';
import { findWorkspace } from './lookup.ts';
import { Progress } from './progress.ts';

export interface ExportArguments {
  readonly workspace?: string | undefined;
  readonly team?: string | undefined;
  /** The new directory of a backup; without it, issues are written to standard output. */
  readonly to?: string | undefined;
  /** The directory for the files of an export of issues. */
  readonly files?: string | undefined;
  /** Whether deleted issues, comments and links are exported too. */
  readonly deleted?: boolean | undefined;
}

/** Writes a backup, or lines of issues. */
export function runExport(env: CommandEnvironment, args: ExportArguments): Promise<number> {
  return args.to === undefined ? exportLines(env, args) : exportBackup(env, args.to, args);
}

async function exportBackup(
  env: CommandEnvironment,
  to: string,
  { workspace, team, files: filesDirectory, deleted }: ExportArguments,
): Promise<number> {
  if ((workspace ?? team ?? filesDirectory) !== undefined || deleted)
    throw new UsageError(
      'A backup (--to) contains everything: --workspace, --team, --files and --deleted apply only to an export of issues.',
    );
  const directory = resolve(env.cwd, to);
  const manifest = await writeBackup(env, directory);
  const { tables, files } = manifest;
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  env.stderr(
    `${directory}: ${pluralize(rows, 'row')} of ${pluralize(tables.length, 'table')}, ${pluralize(files.count, 'file')}\n`,
  );
  const leftOut = omittedWebhooksMessage(manifest);
  if (leftOut) env.stderr(`${leftOut}\n`);
  if (files.missing === 0) return exitCodes.done;
  env.stderr(`${pluralize(files.missing, 'file was', 'files were')} not in the store.\n`);
  return exitCodes.failed;
}

/** Writes a header and then a line for each issue, page by page. */
async function exportLines(env: CommandEnvironment, args: ExportArguments): Promise<number> {
  const { id: workspaceId, name } = await findWorkspace(env.database, args.workspace);
  const team = args.team === undefined ? undefined : await requireTeam(env, workspaceId, args.team);
  const subject = { kind: 'export', name: team ? team.code : name };
  await inTransaction(env.database.of(workspaceId), (trx) =>
    recordAuditEntries(trx, actorOf(env), [{ act: 'export.started', subject }]),
  );
  const { teams, directory } = await exportDirectory(env.database.of(workspaceId), team?.id);
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
  const files =
    args.files === undefined ? undefined : new ExportFiles(env.store, resolve(env.cwd, args.files));
  const options = { deleted: args.deleted ?? false, files };
  const db = env.database.of(workspaceId);
  const teamIds = teams.map((team) => team.id);
  const total = env.isTty ? await countExportedIssues(db, teamIds, options) : 0;
  const progress = new Progress(env, { total, unit: 'issue' });
  let issues = 0;
  try {
    for (const team of teams) {
      for await (const record of exportIssues(db, team, options)) {
        if (env.signal.aborted) {
          progress.printLine(
            `Stopped after ${pluralize(issues, 'issue')}; what was written is not the whole export.`,
          );
          return exitCodes.interrupted;
        }
        env.stdout(`${JSON.stringify(record)}\n`);
        await env.drained();
        issues += 1;
        progress.update(issues);
      }
    }
  } finally {
    progress.end();
  }
  env.stderr(`${pluralize(issues, 'issue')} of ${pluralize(teams.length, 'team')} exported\n`);
  if (!files?.missing) return exitCodes.done;
  env.stderr(`${pluralize(files.missing, 'file was', 'files were')} not in the store.\n`);
  return exitCodes.failed;
}
