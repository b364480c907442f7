import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { repository } from '../repository.ts';
import { crashNodes, type FaultResult, faults, runFaultOn } from './faults.ts';
import { Nodes } from './nodes.ts';

// Tries the service on a Citus cluster of three servers on this machine: npm run citus -- --built TREE [SUITE…]
// `--faults only` leaves out the suites, and `--faults none` the faults.
const { values, positionals } = parseArgs({
  options: { built: { type: 'string' }, faults: { type: 'string' } },
  allowPositionals: true,
});
const { built, faults: which = 'also' } = values;
if (built === undefined)
  throw new Error('--built is the tree in which Citus was built, for the PostgreSQL of this machine.');

/** The suites, unless others are named. */
const suites =
  positionals.length > 0 ? positionals : ['test/graph', 'test/resources', 'test/rest', 'test/security'];

const ofTheDay = 'reads the demo of the day of the examples';
const seesWaits = 'waits until PostgreSQL shows that a statement waits for a lock, which is at another node';

/** Test files that need a database of their own, each with the reason. */
const leftOut: Readonly<Record<string, string>> = {
  'test/graph/executors-writes.test.ts': 'writes the same workspaces into two databases',
  'test/graph/statement-budgets.test.ts':
    'counts the statements that share a round trip, which depends on how quick they are',
  'test/resources/keyed-statements.test.ts': 'refuses answers by a trigger, for all workspaces',
  'test/rest/docs.test.ts': ofTheDay,
  'test/rest/openapi-boundaries.test.ts': ofTheDay,
  'test/rest/openapi-client.test.ts': ofTheDay,
  'test/rest/openapi-examples.test.ts': ofTheDay,
  'test/rest/openapi.test.ts': ofTheDay,
};

/** Single tests that cannot run there, by the beginning of their names, each with the reason. */
const leftOutTests: Readonly<Record<string, string>> = {
  'a write that had to wait for a lock': seesWaits,
  'does the writes of the other issues, and the blocked ones': seesWaits,
  'selecting what belongs to an issue takes no further statement':
    'the parts of a statement run one after the other, so what belongs to a changed issue is read again',
  'refuses an issue whose status was deleted, and creates those of the same batch': seesWaits,
};

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

const folder = mkdtempSync(join(tmpdir(), 'workgraph-citus-'));
const say = (line: string) => process.stdout.write(`${line}\n`);
const database = 'work';
const nodes = await Nodes.create(folder, built);
try {
  await nodes.createDatabase(database);
  const [citus] = await nodes.query<{ version: string }>(database, 'select citus_version() as version');
  say(citus?.version ?? '');
  const steps = ['migrate', 'seed', 'distribute', 'distribute', 'verify'].map((command) => ({
    command,
    ok: workgraph(command, database),
  }));
  const failed = which === 'only' ? 0 : runSuites();
  for (const { command, ok } of steps) say(`| workgraph ${command} | ${ok ? 'done' : 'failed'} |`);
  const results = which === 'none' ? [] : await runFaults();
  for (const { name, words, isSurvived } of results)
    say(`| ${name} | ${isSurvived ? 'survived' : 'FAILED'}: ${words} |`);
  const broken = [...steps.map(({ ok }) => ok), ...results.map(({ isSurvived }) => isSurvived)];
  process.exitCode = failed > 0 || broken.includes(false) ? 1 : 0;
} finally {
  nodes.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Runs each fault on an empty database of its own. */
async function runFaults(): Promise<FaultResult[]> {
  const results: FaultResult[] = [];
  for (const name of faults) {
    const url = await emptyDatabase(name);
    results.push(runFaultOn(name, url));
  }
  results.push(await crashNodes(nodes, await emptyDatabase('crashes'), folder));
  return results;
}

/** Creates a distributed database without rows, and returns its URL. */
async function emptyDatabase(name: string): Promise<string> {
  const created = name.replaceAll('-', '_');
  await nodes.createDatabase(created);
  for (const command of ['migrate', 'distribute'])
    if (!workgraph(command, created)) throw new Error(`workgraph ${command} failed`);
  return nodes.url(created);
}

function workgraph(command: string, on: string): boolean {
  const program = join(repository, 'bin/workgraph.js');
  const env = { ...process.env, DATABASE_URL: nodes.url(on), DATA_DIR: join(folder, 'data') };
  return spawnSync(process.execPath, [program, command], { env, stdio: 'inherit' }).status === 0;
}

/** Runs the suites on the one database, prints a line for each file, and returns how many tests and files failed. */
function runSuites(): number {
  const report = join(folder, 'report.json');
  const ignored = Object.keys(leftOut).map((file) => `--testPathIgnorePatterns=${file}`);
  const env = { ...process.env, TEST_DATABASE_URL: nodes.url(database), TEST_SHARED_DATABASE: '1' };
  const others = `^(?!.*(${Object.keys(leftOutTests).join('|')}))`;
  const options = [
    '--silent',
    `--testNamePattern=${others}`,
    '--maxWorkers=2',
    '--json',
    `--outputFile=${report}`,
    ...ignored,
  ];
  spawnSync('npm', ['test', '--', ...suites, ...options], {
    cwd: repository,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  let failed = 0;
  for (const { name, message, assertionResults } of testResults) {
    const count = (status: string) => assertionResults.filter((one) => one.status === status).length;
    const broken = count('failed') + (assertionResults.length === 0 && message !== '' ? 1 : 0);
    failed += broken;
    say(`| ${name.slice(repository.length + 1)} | ${count('passed')} passed | ${broken} failed |`);
  }
  const reasons = Object.entries({ ...leftOut, ...leftOutTests });
  for (const [what, reason] of reasons) say(`| ${what} | left out: ${reason} |`);
  return failed;
}
