// Runs sqlmap against every text input of both APIs, on a server of its own on PostgreSQL
// (TEST_DATABASE_URL): `npm run sqlmap`. SECONDS limits the time for each input, ONLY is a pattern for their names,
// PLACES=3/20 tries the third of twenty parts of them, LEVEL is that of sqlmap. With REFERENCE_ROWS=1 nothing is answered from
// memory, as lists of teams, members and projects are by default.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { readPool } from '../inputs/pool.ts';
import { startApp } from '../support/app.ts';
import { type MarkedRequest, markedRequests } from './requests.ts';

process.env.TEST_DATABASE_URL ??= 'postgres://postgres@127.0.0.1:5432/test';
const { SECONDS = '600', LEVEL = '3', ONLY = '', PLACES = '1/1', REFERENCE_ROWS } = process.env;
const [part = 1, parts = 1] = PLACES.split('/').map(Number);

interface Verdict {
  readonly requests: number;
  /** The number of requests that sent a statement. The others were refused before, or answered from memory. */
  readonly reached: number;
  /** Whether the original request is accepted. */
  readonly isGood: boolean;
  /** The evidence of an injection; undefined if there is none. */
  readonly finding?: string;
  readonly finished: boolean;
}

try {
  execFileSync('sqlmap', ['--version']);
} catch {
  execFileSync('bash', ['-c', 'apt-get update -qq && apt-get install -y -qq sqlmap'], { stdio: 'inherit' });
}

const work = mkdtempSync(join(tmpdir(), 'workgraph-sqlmap-'));
/** Errors in the server's log. PostgreSQL would refuse a statement that a payload has broken. */
const complaints: string[] = [];
const log = new Writable({
  write: (line, _encoding, done) => {
    complaints.push(String(line));
    done();
  },
});
const app = await startApp({ demo: true, logLevel: 'error', log, settings: { REFERENCE_ROWS } });
const { host } = new URL(app.url);
const verdicts: (Verdict & { name: string })[] = [];
try {
  const chosen = markedRequests(await readPool(app))
    .filter(({ name }) => new RegExp(ONLY).test(name))
    .filter((_, index) => index % parts === part - 1);
  for (const [index, marked] of chosen.entries()) {
    const verdict = await attack(marked, `${index}`);
    verdicts.push({ ...verdict, name: marked.name });
    const { requests, reached, isGood, finished, finding } = verdict;
    const words = [`${requests} requests`, `${reached} with statements`];
    if (!isGood) words.push('refused as it is');
    if (!finished) words.push(`stopped after ${SECONDS} s`);
    if (finding) words.push('INJECTABLE');
    console.log(`${marked.name}: ${words.join(', ')}`);
  }
} finally {
  await app.stop();
  rmSync(work, { recursive: true, force: true });
}
const sum = (countOf: (verdict: Verdict) => number) =>
  verdicts.reduce((total, verdict) => total + countOf(verdict), 0);
const count = (isCounted: (verdict: Verdict) => boolean) => verdicts.filter(isCounted).length;
console.log(
  `${verdicts.length} places, ${sum(({ requests }) => requests)} requests at level ${LEVEL}, ${sum(({ reached }) => reached)} of them with statements: ${count(({ finding }) => finding !== undefined)} injectable, ${count(({ finished }) => !finished)} stopped before their end, ${count(({ isGood }) => !isGood)} refused as they are, ${count(({ reached }) => reached < 100)} whose payloads no statement was run for.`,
);
for (const { name, finding } of verdicts) if (finding) console.log(`${name}\n${finding}`);
process.exitCode = Math.min(
  count(({ finding }) => finding !== undefined),
  100,
);

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
  // Refusals count as normal answers, and sqlmap must not explore the structure of the site.
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
  complaints.length = 0;
  return new Promise((resolve) => {
    const child = spawn('timeout', [SECONDS, 'sqlmap', ...options]);
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('close', (code) => {
      const sent = existsSync(traffic) ? readFileSync(traffic, 'latin1') : '';
      rmSync(traffic, { force: true });
      if (process.env.DEBUG) console.log(output, sent.slice(0, 5_000), complaints);
      resolve({ ...judged(sent, output), finished: code !== 124 });
    });
  });
}

function judged(traffic: string, output: string): Omit<Verdict, 'finished'> {
  const [, first = '', ...rest] = traffic.split(/^HTTP response \[#\d+\] /m);
  const answers = [first, ...rest];
  const findings = [
    ...(/identified the following injection point|is vulnerable/.test(output) ? [output.slice(-3_000)] : []),
    ...answers.filter((answer) => /^\(5\d\d|"internal_error"/i.test(answer)).slice(0, 1),
    ...complaints.slice(0, 1),
  ];
  return {
    requests: traffic.match(/^HTTP request \[/gm)?.length ?? 0,
    reached: answers.filter((answer) => /desc="[1-9]\d* statement/.test(answer)).length,
    isGood: /^\([23]/.test(first) && !/^\{"errors"/m.test(first),
    ...(findings.length > 0 && { finding: findings.join('\n') }),
  };
}
