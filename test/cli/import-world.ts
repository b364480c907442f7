import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import type { CommandEnvironment } from '../../src/cli/environment.ts';
import { runExport } from '../../src/cli/export.ts';
import { type ImportArguments, runImport } from '../../src/cli/import.ts';
import type { Database } from '../../src/db/engine/engine.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import type { FileStore } from '../../src/storage/storage.ts';
import { applyDirectory } from '../../src/portability/directory/directory.ts';
import { parseDirectory } from '../../src/portability/directory/directory-file.ts';
import type { ImportSummary } from '../../src/portability/import/import-run.ts';
import { addOwnWorkspace } from '../support/own-workspaces.ts';
import { copyTemplate, type TestDatabase } from '../support/templates.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';
import { type Ran, runCommand } from './run-command.ts';

/** A workspace with an owner and the team BD, and a directory for the files of the test. */
export interface ImportWorld {
  readonly database: Database;
  readonly workspaceId: string;
  readonly directory: string;
  readonly store: FileStore;
  run(
    command: (env: CommandEnvironment) => Promise<number>,
    options?: Partial<CommandEnvironment>,
  ): Promise<Ran>;
  /** Writes lines to a file, objects as JSON, and gives its name. */
  write(name: string, lines: readonly unknown[]): string;
  /** Imports a file of beads into BD. */
  beads(name: string, args?: Partial<ImportArguments>): Promise<Ran & { summary: ImportSummary }>;
  remove(): void;
}

/** Creates a separate workspace in the database. */
export async function importWorld(database: Database, name: string): Promise<ImportWorld> {
  const cwd = mkdtempSync(join(tmpdir(), 'workgraph-import-'));
  const { workspaceId } = await applyDirectory(
    database,
    systemActor,
    parseDirectory({
      workspace: name,
      members: [{ displayName: 'Olive Owner', emailAddress: 'olive@example.com', role: 'owner' }],
      teams: [{ code: 'BD', name: 'Beads' }],
    }),
  );
  addOwnWorkspace(database, workspaceId);
  const store = openStorage({ dataDir: cwd, storageUrl: undefined });
  const run: ImportWorld['run'] = (command, options) =>
    runCommand({ database, dataDir: cwd, store }, command, options);
  return {
    database,
    workspaceId,
    directory: cwd,
    store,
    run,
    write: (file, lines) => {
      const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
      writeFileSync(join(cwd, file), text.length > 0 ? `${text.join('\n')}\n` : '');
      return join(cwd, file);
    },
    beads: async (file, args = {}) => {
      const all = { file, from: 'beads', team: 'BD', workspace: name, json: true, ...args };
      const result = await run((env) => runImport(env, all));
      return { ...result, summary: JSON.parse(result.stdout) as ImportSummary };
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
  const result = await world.run((env) => runExport(env, { workspace, team }));
  return result.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** A line of beads with the fields of every issue. */
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

/** Registers a database for the tests of a file and a workspace for each of them. */
export function useImportWorld(): {
  readonly database: Database;
  readonly world: ImportWorld;
  readonly name: string;
} {
  const current: { testDatabase?: TestDatabase; world?: ImportWorld; count: number } = { count: 0 };
  const name = () => `Workspace ${current.count}`;
  const missing = () => new Error('Only tests and their hooks have a database.');
  beforeAll(async () => {
    current.testDatabase = await copyTemplate('migrated');
  });
  beforeEach(async () => {
    current.count += 1;
    if (current.testDatabase) current.world = await importWorld(current.testDatabase.database, name());
  });
  afterEach(() => current.world?.remove());
  afterAll(() => current.testDatabase?.drop());
  return {
    get database() {
      if (!current.testDatabase) throw missing();
      return current.testDatabase.database;
    },
    get world() {
      if (!current.world) throw missing();
      return current.world;
    },
    get name() {
      return name();
    },
  };
}
