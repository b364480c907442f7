import { dirname, resolve } from 'node:path';
import { principalKind } from '../model/codes.ts';
import { applyDirectory } from '../portability/directory/directory.ts';
import { parseExportedDirectory } from '../portability/directory/directory-file.ts';
import { encodeId } from '../resolvers/ids.ts';
import { ImportFiles } from '../portability/import/import-files.ts';
import { ascendingIds } from '../portability/row-ids.ts';
import type { SourceLine } from '../portability/import/import-issue.ts';
import { databaseLedger } from '../portability/import/import-ledger.ts';
import type { ImportTarget } from '../portability/import/import-people.ts';
import { importIssues, type ImportSummary } from '../portability/import/import-run.ts';
import { omittedWebhooksMessage } from './backup/manifest.ts';
import { restoreBackup } from './backup/restore.ts';
import { pluralize } from './pluralize.ts';
import { actorOf, type CommandEnvironment } from './environment.ts';
import { exitCodes, UsageError } from './failures.ts';
import { beadsAnonymous, beadsContent } from './import/beads.ts';
import { type Line, readLines } from './import/lines.ts';
import { ndjsonContent, readHeader } from './import/ndjson.ts';
import { recordLines } from './import/records.ts';
import { openSourceFile } from './import/source-file.ts';
import { summaryLines } from './import/summary.ts';
import { requireTeam } from './import/team.ts';
import { findWorkspace } from './lookup.ts';
import { Progress } from './progress.ts';
import { escapeControlCharacters } from './visible.ts';

export interface ImportArguments {
  readonly file: string;
  /** The format: `beads`, `ndjson` or `backup`. */
  readonly from: string;
  readonly team?: string | undefined;
  /** The name under which the team is created if no team has the code. */
  readonly 'create-team'?: string | undefined;
  readonly workspace?: string | undefined;
  readonly json?: boolean | undefined;
}

/**
 * Imports the issues of a file and returns the exit code: 0 if all lines were imported, 1 if some were refused, 130 if
 * the import was interrupted.
 */
export async function runImport(env: CommandEnvironment, args: ImportArguments): Promise<number> {
  const path = resolve(env.cwd, args.file);
  if (args.from === 'backup') return importBackup(env, path, args);
  const file = await openSourceFile(path);
  try {
    const { target, lines } = await openSource(env, args, path, readLines(file.text));
    const progress = new Progress(env, { total: file.totalBytes, unit: 'issue' });
    const startedMs = performance.now();
    const summary = await importIssues({
      db: env.database.of(target.workspaceId),
      unscoped: env.database.unscoped,
      actor: actorOf(env),
      target,
      lines,
      signal: env.signal,
      reporter: {
        refused: (line, reason) => progress.printLine(`line ${line} refused: ${reason}`),
        warning: (line, text) => progress.printLine(`line ${line}: ${text}`),
        progress: (soFar) =>
          progress.update(file.bytesRead, { count: soFar.issues, detail: `${soFar.refused} refused` }),
      },
    }).finally(() => progress.end());
    const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
    for (const line of summaryLines(summary, seconds)) env.stderr(`${line}\n`);
    if (args.json) env.stdout(`${JSON.stringify({ ...summary, seconds })}\n`);
    return exitCodeOf(summary);
  } finally {
    file.close();
  }
}

async function importBackup(
  env: CommandEnvironment,
  directory: string,
  args: ImportArguments,
): Promise<number> {
  if (args.team !== undefined || args.workspace !== undefined || args['create-team'] !== undefined)
    throw new UsageError(
      'A backup is restored as a whole: --workspace, --team and --create-team apply only to an import of issues.',
    );
  const manifest = await restoreBackup(env, directory);
  const { tables, files, createdUtc } = manifest;
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  env.stderr(
    `${pluralize(rows, 'row')} of ${pluralize(tables.length, 'table')} and ${pluralize(files.count, 'file')}, as they were ${createdUtc}\n`,
  );
  const leftOut = omittedWebhooksMessage(manifest);
  if (leftOut) env.stderr(`${leftOut}\n`);
  env.stderr('Run `npx workgraph verify --files` on the same database to check them.\n');
  if (args.json)
    env.stdout(
      `${JSON.stringify({ rows, files: files.count, missing: files.missing, createdUtc, webhooks: manifest.webhooks })}\n`,
    );
  return files.missing > 0 ? exitCodes.failed : exitCodes.done;
}

interface Source {
  target: ImportTarget;
  lines: AsyncIterable<SourceLine>;
}

async function openSource(
  env: CommandEnvironment,
  args: ImportArguments,
  path: string,
  lines: AsyncGenerator<Line>,
): Promise<Source> {
  if (args.from === 'beads') return openBeads(env, args, path, lines);
  if (args.from === 'ndjson') return openNdjson(env, args, path, lines);
  throw new UsageError(`--from must be beads, ndjson or backup, not ${args.from}.`);
}

async function openBeads(
  env: CommandEnvironment,
  args: ImportArguments,
  path: string,
  lines: AsyncGenerator<Line>,
): Promise<Source> {
  if (!args.team) throw new UsageError('Name the team that gets the issues: --team CODE.');
  const { id: workspaceId } = await findWorkspace(env.database, args.workspace);
  const { code: teamCode } = await requireTeam(env, workspaceId, args.team, args['create-team']);
  return {
    // The team is part of the source: the same file may be imported into several teams, and ids of beads are unique
    // only within a repository.
    target: targetOf(env, path, {
      workspaceId,
      source: `beads:${teamCode}`,
      teamCode,
      anonymous: beadsAnonymous,
    }),
    lines: recordLines(lines, beadsContent),
  };
}

async function openNdjson(
  env: CommandEnvironment,
  args: ImportArguments,
  path: string,
  lines: AsyncGenerator<Line>,
): Promise<Source> {
  const header = await readHeader(lines);
  const { id: workspaceId } = await findWorkspace(env.database, args.workspace);
  let teamCode: string | undefined;
  if (args.team) teamCode = (await requireTeam(env, workspaceId, args.team, args['create-team'])).code;
  else if (header.workspace.id === encodeId('workspace', workspaceId)) {
    throw new UsageError(
      'The file is an export of this workspace, so its issues are already here. To copy them, use --team CODE.',
    );
  } else {
    const directory = parseExportedDirectory(header.directory);
    const { changes } = await applyDirectory(env.database, actorOf(env), directory, {
      workspaceId,
      keepExisting: true,
      origin: 'import',
    });
    for (const { kind, name } of changes) env.stderr(`created ${kind} ${escapeControlCharacters(name)}\n`);
  }
  const source = `ndjson:${header.workspace.id}${teamCode === undefined ? '' : `:${teamCode}`}`;
  const anonymous = { name: header.workspace.name, principalKind: principalKind.service };
  const target = targetOf(env, path, { workspaceId, source, teamCode, anonymous });
  return { target, lines: recordLines(lines, ndjsonContent) };
}

function targetOf(
  env: CommandEnvironment,
  path: string,
  source: Pick<ImportTarget, 'workspaceId' | 'source' | 'teamCode' | 'anonymous'>,
): ImportTarget {
  return {
    ...source,
    ledger: databaseLedger(source.source),
    newId: ascendingIds(),
    files: new ImportFiles(env.store, dirname(path)),
  };
}

function exitCodeOf({ isStopped, refused }: ImportSummary): number {
  if (isStopped) return exitCodes.interrupted;
  return refused > 0 ? exitCodes.failed : exitCodes.done;
}
