import { globSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { Manifest } from '../../src/cli/backup/manifest.ts';
import { type Database, openDatabase } from '../../src/db/engine/engine.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import { type AttachmentCaller, newAttachmentCaller } from '../attachments/files.ts';
import type { App } from '../support/app.ts';
import { fillEveryTable } from '../support/full-workspace.ts';
import { copyIntoDirectory, copyTemplate, type TestDatabase } from '../support/templates.ts';
import { storeUploadedFiles } from '../support/uploaded-files.ts';
import type { Ran } from './run-command.ts';
import { inProcess } from './workgraph.ts';

/** Adds rows to every table and the bytes of all files, and makes a backup. */
export async function fillAndBackUp(app: App, to: string): Promise<AttachmentCaller> {
  await fillEveryTable(app);
  await storeUploadedFiles(app.database, app.store);
  const caller = await newAttachmentCaller(app);
  await caller.attach('plan.txt', 'text/plain', Buffer.from('Bytes of a file'));
  const { exitCode, stderr } = await backUp(app, to);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  return caller;
}

export const backUp = (from: Home, to: string): Promise<Ran> => inProcess(from, 'export', ['--to', to]);
export const restore = (to: Home, from: string): Promise<Ran> =>
  inProcess(to, 'import', [from, '--from', 'backup']);

/** What a command needs of an app. */
export type Home = Pick<App, 'database' | 'dataDir' | 'store'>;

function homeOf(database: Database, dataDir: string): Home {
  return { database, dataDir, store: openStorage({ dataDir, storageUrl: undefined }) };
}

export async function emptyEmbedded(dataDir: string): Promise<Home> {
  mkdirSync(dataDir);
  await copyIntoDirectory('migrated', dataDir);
  return homeOf(await openDatabase({ dataDir }), dataDir);
}

/** An empty database on the engine that this run tests. */
export async function emptyTemplate(): Promise<Home & TestDatabase> {
  const test = await copyTemplate('migrated');
  return { ...test, ...homeOf(test.database, test.dataDir) };
}

/** All files of a backup except the manifest, which contains the time, by path. */
export function dataOf(directory: string): Map<string, string> {
  const paths = globSync('**/*', { cwd: directory, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
  return new Map(
    paths
      .filter((path) => path !== 'manifest.json')
      .toSorted()
      .map((path) => [path, readFileSync(join(directory, path), 'base64')]),
  );
}

export const manifestOf = (directory: string) =>
  JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8')) as Manifest;
