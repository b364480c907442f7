import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import type { Database, DatabaseLocation } from '../../src/db/engine/engine.ts';
import type { WireName } from '../../src/db/wire/postgres-wire.ts';
import { wire } from '../support/wire.ts';

/** The location of a new database, and a function that removes it. */
export interface TemporaryDatabase<Location = DatabaseLocation> {
  readonly location: Location;
  remove(): Promise<void>;
}

export function newDirectory(): TemporaryDatabase<{ dataDir: string }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'workgraph-db-'));
  return {
    location: { dataDir },
    remove: () => Promise.resolve(rmSync(dataDir, { recursive: true, force: true })),
  };
}

const server = process.env.TEST_DATABASE_URL;

/** Creates a database on the server of TEST_DATABASE_URL. It can be dropped even while it is in use. */
export async function newServerDatabase(): Promise<TemporaryDatabase<{ url: string; wire: WireName }>> {
  const name = `workgraph_${randomUUID().replaceAll('-', '')}`;
  await onServer(`create database ${name}`);
  const url = new URL(serverUrl());
  url.pathname = name;
  return { location: { url: url.href, wire }, remove: () => onServer(`drop database ${name} with (force)`) };
}

/** The engines to test: PostgreSQL only if TEST_DATABASE_URL is set. */
export const engines: [engine: 'embedded' | 'postgres', newDatabase: () => Promise<TemporaryDatabase>][] = [
  ['embedded', () => Promise.resolve(newDirectory())],
];
if (server) engines.push(['postgres', newServerDatabase]);

export const hasServer = server !== undefined && server !== '';

/** Runs one statement on the default database of the server. */
export async function onServer(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** The URL of an open database on the server, for other processes and bare connections. */
export async function urlOf({ unscoped }: Pick<Database, 'unscoped'>): Promise<string> {
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(unscoped);
  const url = new URL(serverUrl());
  url.pathname = rows[0]?.name ?? '';
  return url.href;
}

function serverUrl(): string {
  return server ?? 'TEST_DATABASE_URL is not set';
}
