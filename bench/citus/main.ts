import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repository } from '../repository.ts';
import { fillDisks } from './disk.ts';
import { crashNodes, type FaultResult, freezeNodes, runFaultOn } from './faults.ts';
import { tidyDistributed } from './janitor.ts';
import { Nodes } from './nodes.ts';
import { promoteNodes } from './promotion.ts';
import { citusOptions, type NodeFault, nodeFaults, sharedFaults } from './options.ts';

// Tries the service on a Citus cluster of three servers on this machine: npm run citus -- --built TREE [SUITE…]
// `--faults none` leaves out the faults, and `--faults only [FAULT…]` the suites.
const { built, faults: which, names } = citusOptions(process.argv.slice(2));

/** The suites, unless others are named. */
const suites =
  which !== 'only' && names.length > 0
    ? names
    : ['test/graph', 'test/resources', 'test/rest', 'test/security'];

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

const ofNodes: Readonly<Record<NodeFault, () => Promise<FaultResult>>> = {
  'nodes-crashed': async () => crashNodes(nodes, await emptyDatabase('crashes'), folder),
  'nodes-frozen': async () => freezeNodes(nodes, await emptyDatabase('freezes'), folder),
  'disks-full': () => fillDisks(join(folder, 'full'), built, (full) => emptyDatabase('full_disks', full)),
  'nodes-promoted': () =>
    promoteNodes(join(folder, 'promoted'), built, (others) => emptyDatabase('promotions', others)),
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
  const warnings = which === 'only' ? [] : await tidyDistributed(nodes.url(database), folder);
  if (which !== 'only') say(`| the janitor's chores | ${warnings.join('; ') || 'done'} |`);
  const survived = which === 'none' ? [] : await runFaults();
  const broken = [...steps.map(({ ok }) => ok), warnings.length === 0, ...survived];
  process.exitCode = failed > 0 || broken.includes(false) ? 1 : 0;
} finally {
  nodes.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Runs each fault on an empty database of its own, prints a line for it, and returns for each whether it was survived. */
async function runFaults(): Promise<boolean[]> {
  const results: boolean[] = [];
  const note = ({ name, words, isSurvived }: FaultResult) => {
    say(`| ${name} | ${isSurvived ? 'survived' : 'FAILED'}: ${words} |`);
    results.push(isSurvived);
  };
  const isChosen = (name: string) => which !== 'only' || names.length === 0 || names.includes(name);
  for (const name of sharedFaults.filter(isChosen))
    note(runFaultOn(name, await emptyDatabase(name), nodes.binaries));
  for (const name of nodeFaults.filter(isChosen)) note(await ofNodes[name]());
  return results;
}

/** Creates a distributed database without rows, and returns its URL. */
async function emptyDatabase(name: string, on = nodes): Promise<string> {
  const created = name.replaceAll('-', '_');
  await on.createDatabase(created);
  for (const command of ['migrate', 'distribute'])
    if (!workgraph(command, created, on)) throw new Error(`workgraph ${command} failed`);
  return on.url(created);
}

function workgraph(command: string, name: string, on = nodes): boolean {
  const program = join(repository, 'bin/workgraph.js');
  const env = { ...process.env, DATABASE_URL: on.url(name), DATA_DIR: join(folder, 'data') };
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
