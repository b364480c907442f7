import { parseArgs } from 'node:util';
import pg from 'pg';
import { fill } from '../dataset/fill.ts';
import { repository } from '../repository.ts';
import { tryMutants } from './mutants.ts';
import { checkShapes } from './shapes.ts';

// The check of shapes in a database of its own on any PostgreSQL server, without the peers of the benchmark: for CI.
const { values } = parseArgs({
  options: {
    server: { type: 'string' },
    database: { type: 'string' },
    issues: { type: 'string', default: '100000' },
    'one-of': { type: 'string', default: '1' },
    shape: { type: 'string' },
    write: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    crowded: { type: 'boolean', default: false },
  },
});
const { server, database, crowded: isCrowded } = values;
const say = (line: string) => process.stdout.write(`${line}\n`);
const issues = Number(values.issues);
if (database !== undefined) await check(database);
else if (server !== undefined) await checkOn(server);
else throw new Error('--server is the URL of a PostgreSQL server, or --database that of a database to keep.');

async function check(url: string): Promise<void> {
  await fill({ url, checkout: repository }, { issues, isSkewed: true, isCrowded }, say);
  const chosen = {
    isResumed: false,
    only: values.shape,
    oneOf: Number(values['one-of']),
    writes: values.write,
    isCrowded,
  };
  const broken = await checkShapes({ ...chosen, url, issues, say });
  const missed = values.mutants ? tryMutants(url, say) : 0;
  process.exitCode = broken + missed > 0 ? 1 : 0;
}

async function checkOn(on: string): Promise<void> {
  const url = new URL(on);
  const name = `shapes_${process.pid}`;
  await onServer(on, `create database ${name}`);
  url.pathname = name;
  try {
    await check(url.href);
  } finally {
    await onServer(on, `drop database ${name} with (force)`);
  }
}

async function onServer(on: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: on });
  await client.connect();
  await client.query(statement);
  await client.end();
}
