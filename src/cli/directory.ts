import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parse, YAMLParseError } from 'yaml';
import { type AppliedDirectory, applyDirectory } from '../portability/directory/directory.ts';
import { type DirectoryFile, parseDirectory } from '../portability/directory/directory-file.ts';
import type { DirectoryChange, FieldChange } from '../portability/directory/directory-plan.ts';
import { encodeId } from '../resolvers/ids.ts';
import { actorOf, type CommandEnvironment } from './environment.ts';
import { CommandError, exitCodes } from './failures.ts';
import { fileSize } from './import/source-file.ts';
import { findWorkspace } from './lookup.ts';
import { escapeControlCharacters } from './visible.ts';

export interface DirectoryApplyArguments {
  readonly file: string;
  readonly workspace?: string | undefined;
  readonly 'dry-run'?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** Applies a directory file and prints a line for each change. */
export async function runDirectoryApply(
  env: CommandEnvironment,
  args: DirectoryApplyArguments,
): Promise<number> {
  const path = resolve(env.cwd, args.file);
  await fileSize(path);
  const file = readDirectory(await readFile(path, 'utf8'));
  const dryRun = args['dry-run'] ?? false;
  const isNamed = args.workspace !== undefined || file.workspace === undefined;
  const workspaceId = isNamed ? (await findWorkspace(env.database, args.workspace)).id : undefined;
  const applied = await applyDirectory(env.database, actorOf(env), file, { dryRun, workspaceId });
  if (args.json) env.stdout(`${JSON.stringify(jsonOf(applied, dryRun))}\n`);
  else for (const change of applied.changes) env.stdout(`${escapeControlCharacters(formatChange(change))}\n`);
  env.stderr(`${escapeControlCharacters(summaryOf(applied, dryRun))}\n`);
  return exitCodes.done;
}

/** Reads the YAML of a directory file and checks its shape. Throws a `CommandError` if it is not valid YAML. */
export function readDirectory(text: string): DirectoryFile {
  return parseDirectory(parseYaml(text));
}

function parseYaml(text: string): unknown {
  try {
    return parse(text, { prettyErrors: true });
  } catch (error) {
    throw new CommandError(`The file is not valid YAML: ${yamlProblem(error)}`, { cause: error });
  }
}

function yamlProblem(error: unknown): string {
  // The parser is recursive.
  if (error instanceof RangeError) return 'it is nested too deep';
  if (error instanceof YAMLParseError && error.code === 'MULTIPLE_DOCS')
    return 'it has several documents, separated by ---, and a directory is one';
  // Besides syntax errors, the parser throws for aliases that expand to too many nodes.
  return error instanceof Error ? error.message.trim() : String(error);
}

function jsonOf({ workspaceId, workspaceName, changes }: AppliedDirectory, dryRun: boolean) {
  return { workspaceId: encodeId('workspace', workspaceId), workspaceName, dryRun, changes };
}

function formatChange({ action, kind, name, fields }: DirectoryChange): string {
  const words = Object.entries(fields).map(([field, change]) => `${field} ${formatFieldChange(change)}`);
  return [`${action} ${kind} ${name}`, ...(words.length > 0 ? [words.join(', ')] : [])].join(': ');
}

function formatFieldChange(change: FieldChange): string {
  if ('added' in change) return `+ ${change.added.join(' + ')}`;
  return `${formatValue(change.from)} → ${formatValue(change.to)}`;
}

function formatValue(value: unknown): string {
  const text = JSON.stringify(value ?? null);
  return text.length > 80 ? `${Array.from(text).slice(0, 79).join('')}…` : text;
}

function summaryOf({ changes, workspaceName }: AppliedDirectory, dryRun: boolean): string {
  if (changes.length === 0) return `No change: the workspace ${workspaceName} already matches the file.`;
  const created = changes.filter(({ action }) => action === 'create').length;
  const counts = `${created} created, ${changes.length - created} updated`;
  return dryRun
    ? `${counts} in ${workspaceName}, if it is applied (--dry-run: nothing was changed)`
    : `${counts} in ${workspaceName}`;
}
