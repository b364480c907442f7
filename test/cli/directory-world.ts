import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { sql } from 'kysely';
import { type DirectoryApplyArguments, runDirectoryApply } from '../../src/cli/directory.ts';
import type { Database } from '../../src/db/engine/engine.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import { copyTemplate, type TestDatabase } from '../support/templates.ts';

/** The output of applying a file. */
export interface Applied {
  exitCode: number;
  stdout: string;
  lines: string[];
  stderr: string;
}

/** A database of the test file, and a name for a workspace of each test. */
export interface DirectoryWorld {
  readonly database: Database;
  readonly name: string;
  /** Writes the text to a file and applies the file. */
  apply(text: string, args?: Partial<DirectoryApplyArguments>): Promise<Applied>;
  /** The content of all workspaces of the database, without times. */
  contents(): Promise<unknown>;
}

/** Registers the database for the tests of a file. */
export function useDirectoryWorld(): DirectoryWorld {
  const now: { test?: TestDatabase; cwd: string; count: number } = { cwd: '', count: 0 };
  const database = () => {
    if (!now.test) throw new Error('Only tests and their hooks have a database.');
    return now.test.database;
  };
  beforeAll(async () => {
    now.test = await copyTemplate('migrated');
    now.cwd = mkdtempSync(join(tmpdir(), 'workgraph-directory-'));
  });
  beforeEach(() => {
    now.count += 1;
  });
  afterAll(async () => {
    rmSync(now.cwd, { recursive: true, force: true });
    await now.test?.drop();
  });
  return {
    get database() {
      return database();
    },
    get name() {
      return `Acme ${now.count}`;
    },
    apply: (text, args = {}) => apply(database(), now.cwd, text, args),
    contents: () => contents(database()),
  };
}

async function apply(
  database: Database,
  cwd: string,
  text: string,
  args: Partial<DirectoryApplyArguments>,
): Promise<Applied> {
  writeFileSync(join(cwd, 'directory.yaml'), text);
  const output = { stdout: '', stderr: '' };
  const exitCode = await runDirectoryApply(
    {
      database,
      dataDir: cwd,
      store: openStorage({ dataDir: cwd, storageUrl: undefined }),
      stdout: (out) => (output.stdout += out),
      drained: () => Promise.resolve(),
      stderr: (err) => (output.stderr += err),
      isTty: false,
      operator: { name: 'tester', host: 'here' },
      columns: 80,
      cwd,
      signal: new AbortController().signal,
    },
    { file: 'directory.yaml', ...args },
  );
  return { exitCode, ...output, lines: output.stdout.split('\n').filter(Boolean) };
}

async function contents(database: Database): Promise<unknown> {
  const tables =
    'workspace member team team_counter team_member status label delivery project_status project repository';
  const all: Record<string, unknown> = {};
  for (const table of tables.split(' ')) {
    const { rows } =
      await sql`select (to_jsonb(t) - 'updated_utc')::text as row from ${sql.table(table)} t order by 1`.execute(
        database.unscoped,
      );
    all[table] = rows;
  }
  return all;
}
