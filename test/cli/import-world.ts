import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandEnvironment } from '../../src/cli/environment.ts';
import { runExport } from '../../src/cli/export.ts';
import { type ImportArguments, runImport } from '../../src/cli/import.ts';
import type { Database } from '../../src/db/engine.ts';
import { applyDirectory } from '../../src/resolvers/directory.ts';
import { parseDirectory } from '../../src/resolvers/directory-file.ts';
import type { ImportSummary } from '../../src/resolvers/import-run.ts';

/** What a command said: its data and its words. */
export interface Said {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** A workspace with an owner and the team BD, and a directory for the files of the test. */
export interface ImportWorld {
  readonly database: Database;
  readonly workspaceId: string;
  run(
    command: (env: CommandEnvironment) => Promise<number>,
    options?: Partial<CommandEnvironment>,
  ): Promise<Said>;
  /** Writes lines to a file, objects as JSON, and gives its name. */
  write(name: string, lines: readonly unknown[]): string;
  /** Imports a file of beads into BD. */
  beads(name: string, args?: Partial<ImportArguments>): Promise<Said & { summary: ImportSummary }>;
  remove(): void;
}

/** Makes a workspace of its own in the database. */
export async function importWorld(database: Database, name: string): Promise<ImportWorld> {
  const cwd = mkdtempSync(join(tmpdir(), 'workgraph-import-'));
  const { workspaceId } = await applyDirectory(
    database,
    parseDirectory({
      workspace: name,
      members: [{ displayName: 'Olive Owner', emailAddress: 'olive@example.com', role: 'owner' }],
      teams: [{ code: 'BD', name: 'Beads' }],
    }),
  );
  const run: ImportWorld['run'] = async (command, options) => {
    const said = { stdout: '', stderr: '' };
    const exitCode = await command({
      database,
      dataDir: cwd,
      stdout: (text) => (said.stdout += text),
      stderr: (text) => (said.stderr += text),
      isTerminal: false,
      columns: 80,
      cwd,
      signal: new AbortController().signal,
      ...options,
    });
    return { exitCode, ...said };
  };
  return {
    database,
    workspaceId,
    run,
    write: (file, lines) => {
      const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
      writeFileSync(join(cwd, file), text.length > 0 ? `${text.join('\n')}\n` : '');
      return join(cwd, file);
    },
    beads: async (file, args = {}) => {
      const all = { file, from: 'beads', team: 'BD', workspace: name, json: true, ...args };
      const said = await run((env) => runImport(env, all));
      return { ...said, summary: JSON.parse(said.stdout) as ImportSummary };
    },
    remove: () => rmSync(cwd, { recursive: true, force: true }),
  };
}

/** The export of a workspace, line by line. */
export async function exported(
  world: ImportWorld,
  workspace: string,
  team?: string,
): Promise<Record<string, unknown>[]> {
  const said = await world.run((env) => runExport(env, { workspace, team }));
  return said.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** A line of beads, with what every issue has. */
export function bead(id: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id,
    title: `Issue ${id}`,
    status: 'open',
    priority: 2,
    issue_type: 'task',
    created_at: '2025-11-02T22:23:49.475356-08:00',
    updated_at: '2025-11-03T10:00:00Z',
    created_by: 'ann',
    ...fields,
  };
}

/** The relation that makes an issue part of another. */
export function childOf(id: string, parent: string): Record<string, unknown> {
  return { dependencies: [{ issue_id: id, depends_on_id: parent, type: 'parent-child' }] };
}
