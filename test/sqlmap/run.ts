// Lets sqlmap try every operation of both faces on a server of its own, on PostgreSQL (TEST_DATABASE_URL):
// `npm run sqlmap`. SECONDS bounds each operation, ONLY is an expression for the names of those to try, PLACES=3/20 tries
// the third of twenty parts of the places of each, LEVEL is sqlmap's.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPool } from '../inputs/pool.ts';
import { startApp } from '../support/app.ts';
import { type MarkedRequest, markedRequests, onlyPart } from './requests.ts';

process.env.TEST_DATABASE_URL ??= 'postgres://postgres@127.0.0.1:5432/test';
const { SECONDS = '600', LEVEL = '3', ONLY = '', PLACES = '1/1' } = process.env;
const [part = 1, parts = 1] = PLACES.split('/').map(Number);

interface Verdict {
  readonly requests: number;
  readonly injectable: boolean;
  readonly finished: boolean;
  readonly output: string;
}

try {
  execFileSync('sqlmap', ['--version']);
} catch {
  execFileSync('bash', ['-c', 'apt-get update -qq && apt-get install -y -qq sqlmap'], { stdio: 'inherit' });
}

const work = mkdtempSync(join(tmpdir(), 'workgraph-sqlmap-'));
const app = await startApp({ demo: true });
const { host } = new URL(app.url);
let requests = 0;
const found: string[] = [];
const unfinished: string[] = [];
try {
  const all = markedRequests(await readPool(app))
    .filter(({ name }) => new RegExp(ONLY).test(name))
    .map((marked) => onlyPart(marked, part, parts))
    .filter(({ places }) => places > 0);
  for (const [index, marked] of all.entries()) {
    const verdict = await attack(marked, `${index}`);
    requests += verdict.requests;
    if (verdict.injectable) found.push(`${marked.name}\n${verdict.output}`);
    if (!verdict.finished) unfinished.push(marked.name);
    const end = verdict.finished ? 'finished' : `stopped after ${SECONDS} s`;
    if (process.env.DEBUG) console.log(verdict.output);
    console.log(`${marked.name}: ${marked.places} places, ${verdict.requests} requests, ${end}`);
  }
  console.log(
    `${all.length} operations, ${all.reduce((sum, { places }) => sum + places, 0)} places, ${requests} requests at level ${LEVEL}: ${found.length} injectable, ${unfinished.length} stopped before their end.`,
  );
} finally {
  await app.stop();
  rmSync(work, { recursive: true, force: true });
}
for (const each of found) console.log(each);
process.exitCode = found.length > 0 ? 1 : 0;

function attack({ head, body }: MarkedRequest, name: string): Promise<Verdict> {
  const file = join(work, `${name}.http`);
  const headers = [
    `Host: ${host}`,
    `Authorization: Bearer ${app.token}`,
    'Accept: application/graphql-response+json, application/json',
    ...(body === '' ? [] : ['Content-Type: application/json']),
  ];
  writeFileSync(file, `${[head, ...headers].join('\r\n')}\r\n\r\n${body}`);
  const options = ['-r', file, '--batch', `--level=${LEVEL}`, '--dbms=PostgreSQL', '--flush-session'];
  // A refusal is an answer like any other here, and nobody is to guess at the structure of the site.
  const traffic = join(work, `${name}.traffic`);
  options.push(
    '-t',
    traffic,
    '--ignore-code=*',
    '--output-dir',
    join(work, 'out'),
    '--disable-coloring',
    '--ignore-stdin',
  );
  return new Promise((resolve) => {
    const child = spawn('timeout', [SECONDS, 'sqlmap', ...options]);
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('close', (code) => {
      const sent = existsSync(traffic)
        ? readFileSync(traffic, 'latin1').matchAll(/^HTTP request \[#(\d+)\]/gm)
        : [];
      const numbers = Array.from(sent, ([, number]) => Number(number));
      rmSync(traffic, { force: true });
      resolve({
        requests: numbers.at(-1) ?? 0,
        injectable: /identified the following injection point|is vulnerable/.test(output),
        finished: code !== 124,
        output: output.slice(-3_000),
      });
    });
  });
}
