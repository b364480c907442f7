import { parseArgs } from 'node:util';
import pg from 'pg';
import { fill } from '../dataset/fill.ts';
import { checkShapes } from './shapes.ts';

// The check of shapes in a database of its own on any PostgreSQL server, without the peers of the benchmark: for CI.
const { values } = parseArgs({
  options: {
    server: { type: 'string' },
    issues: { type: 'string', default: '100000' },
    'one-of': { type: 'string', default: '1' },
    shape: { type: 'string' },
  },
});
if (values.server === undefined) throw new Error('--server is the URL of a PostgreSQL server.');
const say = (line: string) => process.stdout.write(`${line}\n`);
const issues = Number(values.issues);
const url = new URL(values.server);
const name = `shapes_${process.pid}`;
await onServer(values.server, `create database ${name}`);
url.pathname = name;
try {
  await fill(url.href, { issues, isSkewed: true }, say);
  const chosen = { isResumed: false, only: values.shape, oneOf: Number(values['one-of']) };
  const broken = await checkShapes({ ...chosen, url: url.href, issues, say });
  process.exitCode = broken > 0 ? 1 : 0;
} finally {
  await onServer(values.server, `drop database ${name} with (force)`);
}

async function onServer(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(statement);
  await client.end();
}
