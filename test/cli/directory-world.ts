import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { sql } from 'kysely';
import { type DirectoryApplyArguments, runDirectoryApply } from '../../src/cli/directory.ts';
import type { Database } from '../../src/db/engine/engine.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import { copyTemplate, type TestDatabase } from '../support/templates.ts';
import { type Ran, runCommand } from './run-command.ts';

/** The result of applying a file. */
interface Applied extends Ran {
  /** The lines of the data, without empty ones. */
  lines: string[];
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
  const current: { testDatabase?: TestDatabase; cwd: string; count: number } = { cwd: '', count: 0 };
  const database = () => {
    if (!current.testDatabase) throw new Error('Only tests and their hooks have a database.');
    return current.testDatabase.database;
  };
  beforeAll(async () => {
    current.testDatabase = await copyTemplate('migrated');
    current.cwd = mkdtempSync(join(tmpdir(), 'workgraph-directory-'));
  });
  beforeEach(() => {
    current.count += 1;
  });
  afterAll(async () => {
    rmSync(current.cwd, { recursive: true, force: true });
    await current.testDatabase?.drop();
  });
  return {
    get database() {
      return database();
    },
    get name() {
      return `Acme ${current.count}`;
    },
    apply: (text, args = {}) => apply(database(), current.cwd, text, args),
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
  const store = openStorage({ dataDir: cwd, storageUrl: undefined });
  const ran = await runCommand({ database, dataDir: cwd, store }, (env) =>
    runDirectoryApply(env, { file: 'directory.yaml', ...args }),
  );
  return { ...ran, lines: ran.stdout.split('\n').filter(Boolean) };
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
