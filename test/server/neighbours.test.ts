import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { pino } from 'pino';
import { openDatabase } from '../../src/db/engine/engine.ts';
import { readConfig, type Settings } from '../../src/server/config.ts';
import { startServer } from '../../src/server/server.ts';
import { hasServer, urlOf } from '../db/engines.ts';
import { type App, startApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';

let app: App;
let databaseUrl: string;
const directories = ['one', 'other'].map((name) => mkdtempSync(join(tmpdir(), `workgraph-${name}-`)));
beforeAll(async () => {
  app = await startApp();
  if (hasServer) databaseUrl = await urlOf(app.database);
});
afterAll(async () => {
  await app.stop();
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

const keys = { SIGNING_KEYS: 'a key that all of the servers have in common' };
const files = { STORAGE_URL: 'file:///srv/files' };

/** Starts a server on the database of the app, and collects the settings that it warns of. */
async function start(directory: string | undefined, settings: Settings) {
  const warnings: string[][] = [];
  const stream = {
    write: (line: string) => {
      const { level, settings: settingNames } = JSON.parse(line) as { level: number; settings?: string[] };
      if (level === 40 && settingNames) warnings.push(settingNames);
    },
  };
  const config = readConfig({ PORT: '0', DATA_DIR: directory, DATABASE_URL: databaseUrl, ...settings }, {});
  const database = await openDatabase({ url: databaseUrl });
  const server = await startServer({ database, config, logger: pino({ level: 'warn' }, stream) });
  return {
    warned: warnings,
    stop: async () => {
      await server.stop();
      await database.close();
    },
  };
}

async function listeners(): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from pg_stat_activity
    where datname = current_database() and application_name like 'workgraph listener%'`.execute(
    app.database.unscoped,
  );
  return rows[0]?.n ?? 0;
}

const [one, other] = directories;
(hasServer ? it : it.skip).each([
  ['share nothing', {}, other, {}, ['SIGNING_KEYS', 'STORAGE_URL']],
  ['share keys', keys, other, keys, ['STORAGE_URL']],
  ['share files', files, other, files, ['SIGNING_KEYS']],
  ['share keys that only the first was given', keys, other, {}, ['SIGNING_KEYS', 'STORAGE_URL']],
  ['share files that only the second was given', {}, other, files, ['SIGNING_KEYS', 'STORAGE_URL']],
  ['share both', { ...keys, ...files }, other, { ...keys, ...files }, undefined],
  ['have one data directory', {}, one, {}, undefined],
] as const)(
  'a second server on one database warns of what it does not share: two that %s',
  async (_what, firstSettings, directory, secondSettings, settings) => {
    const first = await start(one, firstSettings);
    await eventually(async () => (await listeners()) > 0);
    const second = await start(directory, secondSettings);
    await Promise.all([first.stop(), second.stop()]);
    await eventually(async () => (await listeners()) === 0);
    expect(first.warned).toEqual([]);
    expect(second.warned).toEqual(settings === undefined ? [] : [settings]);
  },
);
