import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import pg from 'pg';
// It sets the flag of V8 that is set below, where the last setting counts, so it must be loaded first.
import '../../src/db/engine/embedded.ts';
import {
  DataDirectoryHeldError,
  type DataDirectoryLock,
  lockDataDirectory,
} from '../../src/db/engine/directory-lock.ts';
import { type Database, type DatabaseLocation, openDatabase } from '../../src/db/engine/engine.ts';
import { migrate } from '../../src/db/engine/migrate.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import {
  type Content,
  hasTemplate,
  pruneBeside,
  templateCache,
  type TemplateContent,
  templateOf,
  touch,
} from './template-paths.ts';
import { markShared } from './own-workspaces.ts';
import { whenWorkerEnds } from './worker-end.ts';
import { wire } from './wire.ts';
import './tenant-prover/install.ts';

// A worker of jest runs the engine for minutes, so optimizing it pays sooner than in the server of a small team.
setFlagsFromString('--wasm-tiering-budget=10000000');

/**
 * The date of the demo in the examples of openapi.json. It is in the past, so that no delivery is
 * upcoming and no agent has written recently, and a request has the same answer on every day.
 */
export const exampleDay = new Date('2026-02-11T12:00:00.000Z');

/** The database of one test file. */
export interface TestDatabase {
  database: Database;
  /** The directory for files that a server stores in addition to its database. */
  dataDir: string;
  /** Closes and deletes the database. */
  drop: () => Promise<void>;
}

/**
 * Copies a template, and makes it first if it is missing. The copy is on PostgreSQL if TEST_DATABASE_URL is set, and
 * is used through a transaction pooler if TEST_POOLER_URL is set. With TEST_SHARED_DATABASE, TEST_DATABASE_URL is the database
 * of all test files, which has the demo: they share it, because it takes long to make a distributed one.
 */
export async function copyTemplate(content: Content): Promise<TestDatabase> {
  const dataDir = newDataDir();
  const serverUrl = process.env.TEST_DATABASE_URL;
  if (serverUrl && process.env.TEST_SHARED_DATABASE) return useShared(serverUrl, content, dataDir);
  return serverUrl ? copyOnServer(serverUrl, content, dataDir) : copyEmbedded(content, dataDir);
}

function newDataDir(): string {
  return mkdtempSync(join(tmpdir(), 'workgraph-test-'));
}

/** Copies an embedded database into a data directory, for another process to open. */
export async function copyIntoDirectory(content: TemplateContent, dataDir: string): Promise<void> {
  copyDatabase(await templateFor(content), dataDir);
}

/** Copies the embedded database of the demo with its files, as if a server had made both in the data directory. */
export async function copyDemoIntoDirectory(dataDir: string): Promise<void> {
  const template = await templateFor('demo');
  copyDatabase(template, dataDir);
  cpSync(join(template, 'files'), join(dataDir, 'files'), { recursive: true });
}

async function templateFor(content: TemplateContent): Promise<string> {
  const template = hasTemplate(content) ? templateOf(content) : await makeTemplate(content);
  touch(template);
  return template;
}

function copyDatabase(template: string, dataDir: string): void {
  cpSync(join(template, 'database'), join(dataDir, 'database'), { recursive: true });
}

async function copyEmbedded(content: Content, dataDir: string): Promise<TestDatabase> {
  await copyIntoDirectory(content, dataDir);
  return openWithoutDrop({ dataDir, wire }, dataDir);
}

/** Makes the template of an embedded database, unless another process has made it in the meantime. */
export async function makeTemplate(content: TemplateContent): Promise<string> {
  const lock = await lockWhenFree(join(templateCache, 'making'));
  try {
    return await makeEmbedded(content);
  } finally {
    lock.release();
  }
}

/** Creating a database takes seconds, so each template starts as a copy of a simpler one. */
async function makeEmbedded(content: TemplateContent): Promise<string> {
  const template = templateOf(content);
  if (existsSync(template)) return template;
  const partial = mkdtempSync(join(templateCache, 'partial-'));
  if (content !== 'empty') {
    const base = content === 'migrated' ? 'empty' : 'migrated';
    copyDatabase(await makeEmbedded(base), partial);
  }
  const database = await openDatabase({ dataDir: partial, wire });
  if (content !== 'empty') await fill(database, content, partial);
  await database.close();
  // PostgreSQL's own template databases are half of the files that each test file would copy, and are not needed.
  for (const oid of ['1', '4']) rmSync(join(partial, 'database/base', oid), { recursive: true, force: true });
  renameSync(partial, template);
  pruneBeside(content);
  return template;
}

async function lockWhenFree(directory: string): Promise<DataDirectoryLock> {
  mkdirSync(directory, { recursive: true });
  for (;;) {
    try {
      return lockDataDirectory(directory);
    } catch (error) {
      if (!(error instanceof DataDirectoryHeldError)) throw error;
      await delay(100);
    }
  }
}

async function useShared(url: string, content: Content, dataDir: string): Promise<TestDatabase> {
  if (content === 'examples')
    throw new Error('A shared database has the demo of today, not that of the examples.');
  const shared = await openWithoutDrop({ url, wire }, dataDir);
  markShared(shared.database);
  return shared;
}

let workerDatabase: Promise<Database> | undefined;

/**
 * A database for a test file that writes only in workspaces that it creates. On the embedded engine, the files of a worker use the
 * same one, which stays open: starting the engine takes 0.2 s of processor time, and the engine has planned most statements of a
 * file for the files before it. On a PostgreSQL server each file has its own, since no engine has to start there.
 */
export async function databaseOfWorker(): Promise<TestDatabase> {
  const { TEST_DATABASE_URL, WORKGRAPH_TEST_SHARED: folder } = process.env;
  if (TEST_DATABASE_URL || !folder) return copyTemplate('migrated');
  if (!workerDatabase) {
    workerDatabase = createIn(mkdtempSync(join(folder, 'database-')));
    whenWorkerEnds(closeDatabaseOfWorker);
  }
  // Each file gets a copy of the handle, so that markers and replaced methods do not affect the next file.
  const database: Database = { ...(await workerDatabase), close: () => Promise.resolve() };
  markShared(database);
  const dataDir = newDataDir();
  return {
    database,
    dataDir,
    drop: () => Promise.resolve(rmSync(dataDir, { recursive: true, force: true })),
  };
}

/** Closes the database of the worker, if there is one: its timers would keep the process alive for up to ten seconds. */
export async function closeDatabaseOfWorker(): Promise<void> {
  const database = await workerDatabase;
  workerDatabase = undefined;
  await database?.close();
}

/** Opens a new database without rows. The directory is deleted after the run, see `allowSharing`. */
async function createIn(dataDir: string): Promise<Database> {
  await copyIntoDirectory('migrated', dataDir);
  return openDatabase({ dataDir, wire });
}

/** Opens a database that need not be dropped: it is in the directory, or belongs to all test files. */
async function openWithoutDrop(location: DatabaseLocation, dataDir: string): Promise<TestDatabase> {
  const database = await openDatabase(location);
  return {
    database,
    dataDir,
    drop: async () => {
      await database.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function copyOnServer(serverUrl: string, content: Content, dataDir: string): Promise<TestDatabase> {
  const run = process.env.WORKGRAPH_TEST_RUN ?? `alone_${process.pid}`;
  const template = `workgraph_test_${run}_${content}`;
  const name = `workgraph_test_${run}_${randomUUID().slice(0, 8)}`;
  await onServer(serverUrl, async (client) => {
    // When two test files need the template at once, one makes it and the other waits.
    await client.query('select pg_advisory_lock(hashtext($1))', [template]);
    const found = await client.query('select 1 from pg_database where datname = $1', [template]);
    if (found.rowCount === 0) {
      await client.query(`create database ${template}`);
      const database = await openDatabase({
        url: withDatabase(serverUrl, template),
        statementTimeoutMs: 0,
        wire,
      });
      // The bytes of the demo's files are deleted, because later test files would not have them either.
      const filesDir = newDataDir();
      try {
        await fill(database, content, filesDir);
      } finally {
        await database.close();
        rmSync(filesDir, { recursive: true, force: true });
      }
    }
    await client.query(`create database ${name} template ${template}`);
  });
  const pooler = process.env.TEST_POOLER_URL;
  const url = withDatabase(pooler ?? serverUrl, name);
  const database = await openDatabase({ url, prepared: !pooler, wire });
  return {
    database,
    dataDir,
    drop: async () => {
      await database.close();
      rmSync(dataDir, { recursive: true, force: true });
      await onServer(serverUrl, (client) => client.query(`drop database ${name} with (force)`));
    },
  };
}

/** Drops the databases that a run has left on the server: its templates, and those of test files that were aborted. */
export async function dropRun(serverUrl: string, run: string): Promise<void> {
  await onServer(serverUrl, async (client) => {
    const found = await client.query<{ datname: string }>(
      'select datname from pg_database where starts_with(datname, $1)',
      [`workgraph_test_${run}_`],
    );
    for (const { datname } of found.rows) await client.query(`drop database ${datname} with (force)`);
  });
}

async function onServer<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Fills a database, and puts the bytes of the demo's files beside it. */
async function fill(database: Database, content: Content, dataDir: string): Promise<void> {
  await migrate(database);
  if (content === 'migrated') return;
  const { seedDemo } = await import('../../src/cli/demo/seed-demo.ts');
  const store = openStorage({ dataDir, storageUrl: undefined });
  const now = content === 'examples' ? exampleDay : new Date();
  await seedDemo(database, { store, actor: systemActor, now });
}
