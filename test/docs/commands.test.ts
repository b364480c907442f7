import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { commands } from '../../src/cli/commands.ts';
import { serve, type Serving } from '../cli/workgraph.ts';
import { copyDemoIntoDirectory, copyIntoDirectory } from '../support/templates.ts';
import { blocksOf, pages } from './shell-blocks.ts';
import { hasServer } from '../db/engines.ts';

// Runs what README and docs say to type, page by page, in the order of each page. `npx workgraph` is the program of this
// repository: that npx finds it in a package is tried by test/cli/package.test.ts. A request that is refused fails, because
// curl is told so in its configuration.

/** Pages whose commands another test runs, since it also reads what they answer. */
const elsewhere: Readonly<Record<string, string>> = {
  'docs/rest.md': 'test/rest/docs.test.ts',
  'docs/rest-endpoints.md': 'test/rest/openapi-examples.test.ts',
  'docs/live.md': 'test/live/documented.test.ts',
  'docs/webhooks.md': 'test/webhooks/documented.test.ts',
  'docs/deployment.md': 'npm run deploy:try, which does here what a container runtime would do',
  'docs/specification.md': 'nothing: it is the law, and has no commands',
};

/** Lines that are left out here, with the reason. Reviewed: a new one needs a reason that is as good. */
const leftOut: readonly (readonly [line: RegExp, reason: string])[] = [
  [/^npm ci && npm (start|test)/, 'installs this repository, and runs this suite'],
  [/^npm (ci|start)$|^npm start +#/, 'installs this repository, and starts a second server'],
  [/^npm (run|test)/, 'tools of contributors, which CI runs'],
  [/^npx workgraph serve/, 'the server runs already: test/cli/package.test.ts types this in an empty folder'],
  [/^npm install \/path\/to\//, 'test/cli/package.test.ts installs the package'],
  [/postgres:\/\/|^DATABASE_URL=|^createuser |^DOCUMENTS=trusted/, 'needs a server or settings of its own'],
];

/** What must be there before a page: files that it takes for granted. */
const given: Readonly<Record<string, (folder: string) => void | Promise<void>>> = {
  // The empty database that a backup is restored into, because creating one takes seconds.
  'docs/operations.md': (folder) => copyIntoDirectory('migrated', join(folder, 'restored')),
  'docs/attachments.md': (folder) => cpSync(demo('report-1.pdf'), join(folder, 'plan.pdf')),
  'docs/persisted-documents.md': (folder) => {
    cpSync(join(root, 'docs/queries'), join(folder, 'queries'), { recursive: true });
  },
  'docs/directory.md': (folder) => {
    writeFileSync(join(folder, 'acme.yaml'), blocksOf('docs/directory.md', 'yaml')[0] ?? '');
  },
  'docs/importing.md': (folder) => {
    mkdirSync(join(folder, '.beads'));
    writeFileSync(join(folder, '.beads/issues.jsonl'), `${JSON.stringify(bead)}\n`);
    writeFileSync(
      join(folder, 'export.ndjson'),
      exported.map((line) => `${JSON.stringify(line)}\n`).join(''),
    );
  },
};

const bead = {
  id: 'bd-1',
  title: 'Oil the door',
  status: 'open',
  priority: 1,
  issue_type: 'task',
  created_at: '2026-02-09T10:00:00Z',
  updated_at: '2026-02-09T10:00:00Z',
};
const exported = [
  { _type: 'header', format: 'workgraph', version: 1, workspace: { id: 'elsewhere', name: 'Elsewhere' } },
  {
    _type: 'issue',
    key: 'ENG-1',
    title: 'Paint the gate',
    reporter: 'Ada',
    createdUtc: '2026-02-09T10:00:00Z',
  },
];

/** Pages that begin with an empty database: those of a list are read one after the other on the same data. */
const onEmpty = [['docs/directory.md', 'docs/importing.md'], ['docs/guides/operator.md']];
/** All others are read on the demo. */
const withoutDemo = onEmpty.flat();

/** `workgraph token`, but neither `npx workgraph token` nor "a workgraph server". */
const otherForm = new RegExp(
  `npm run (?:-s )?workgraph|(?:^|[\`(]|(?<!npx) )workgraph (?:${Object.keys(commands).join('|')}) ?(?:[\`-]|create|list|apply)`,
);

/** `token create` alone, in a text for users. */
const halfForm =
  /`(?:token (?:create|list|revoke)|workspace (?:create|list)|directory apply|changes reset|webhooks listen)/;

const root = join(import.meta.dirname, '../..');
const demo = (file: string) => join(root, 'demo/files', file);
const program = join(root, 'bin/workgraph.js');
// The commands open the embedded database of their folder, whatever the other tests run on, so one of the two runs has them.
const onEmbedded = hasServer ? describe.skip : describe;

const commandsOf = (page: string) =>
  blocksOf(page, 'sh').map((block) =>
    block
      .split('\n')
      .filter((line) => !leftOut.some(([pattern]) => pattern.test(line)))
      .join('\n'),
  );
const runHere = pages.filter((page) => !elsewhere[page] && commandsOf(page).some((code) => code !== ''));

it('each page with commands is read by a test, and each line that is left out is still there', () => {
  expect(runHere.length).toBeGreaterThan(9);
  const all = pages.flatMap((page) => blocksOf(page, 'sh')).flatMap((block) => block.split('\n'));
  expect(leftOut.filter(([pattern]) => !all.some((line) => pattern.test(line)))).toEqual([]);
  for (const page of pages.filter((page) => elsewhere[page]?.startsWith('test/')))
    expect(readFileSync(join(root, elsewhere[page] ?? ''), 'utf8')).not.toBe('');
});

it('a command has one form everywhere, which works after the two commands of the README: npx workgraph', () => {
  const sources = globSync('src/**/*.ts', { cwd: root });
  const other = [...pages, ...sources].flatMap((path) =>
    readFileSync(join(root, path), 'utf8')
      .split('\n')
      .filter((line) => otherForm.test(line) || (path.endsWith('.md') && halfForm.test(line)))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(other).toEqual([]);
});

it('no command needs --json of curl, which that of Ubuntu 22.04 lacks', () => {
  const code = pages.flatMap((page) => blocksOf(page, 'sh')).join('\n');
  expect(code).not.toMatch(/curl(?:[^\n]|\\\n)* --json/);
});

onEmbedded('the commands of', () => {
  const folders: string[] = [];
  const servers: Serving[] = [];
  let shims: string;

  /** A folder in which somebody works: `.workgraph` has the data. */
  function newFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'workgraph-docs-'));
    folders.push(folder);
    return folder;
  }

  /** Starts a server on what another would have made in seconds: with the demo or, for a reader who adds `--no-demo`, without rows. */
  async function served(folder: string, ...flags: string[]): Promise<string> {
    const dataDir = join(folder, '.workgraph');
    await (flags.includes('--no-demo')
      ? copyIntoDirectory('migrated', dataDir)
      : copyDemoIntoDirectory(dataDir));
    const server = await serve([...flags, '--data-dir', dataDir], { DRAIN_MS: '0' });
    servers.push(server);
    return server.url;
  }

  beforeAll(() => {
    shims = newFolder();
    const npx = `#!/bin/sh\n[ "$1" = workgraph ] || exit 3\nshift\nexec '${process.execPath}' '${program}' "$@"\n`;
    writeFileSync(join(shims, 'npx'), npx, { mode: 0o755 });
    writeFileSync(join(shims, '.curlrc'), 'fail-with-body\nshow-error\n');
  });

  afterAll(async () => {
    for (const server of servers) await server.end();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  /** Types the commands of a page into one shell. Throws at the first that fails. */
  async function type(page: string, folder: string, url: string): Promise<void> {
    await given[page]?.(folder);
    const code = commandsOf(page).join('\n').replaceAll('http://127.0.0.1:4000', url);
    const shell = spawn('bash', ['-e', '-o', 'pipefail', '-c', code], {
      cwd: folder,
      env: {
        PATH: [shims, process.env.PATH].join(delimiter),
        HOME: folder,
        CURL_HOME: shims,
        NO_COLOR: '1',
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
        URL: url,
        // As README says, and what the pages on REST call the issue that they have created.
        ...(!withoutDemo.includes(page) && { TOKEN: tokenIn(folder) }),
        KEY: 'WEB-1',
      },
    });
    const [stdout, stderr, [exitCode]] = await Promise.all([
      text(shell.stdout),
      text(shell.stderr),
      once(shell, 'close') as Promise<[number]>,
    ]);
    if (exitCode !== 0 || stdout.includes('"errors":'))
      throw new Error(`${page} ends with ${exitCode}.\n${stdout}\n${stderr}`);
  }

  const tokenIn = (folder: string) => readFileSync(join(folder, '.workgraph/demo-token'), 'utf8').trim();

  it('pages on the demo succeed, in their order', async () => {
    const folder = newFolder();
    const url = await served(folder);
    const refused: unknown[] = [];
    for (const page of runHere.filter((page) => !withoutDemo.includes(page)))
      await type(page, folder, url).catch((error: unknown) => refused.push(error));
    expect(refused).toEqual([]);
  });

  it.each(onEmpty)('%s and what follows it succeed on an empty database', async (...those) => {
    const folder = newFolder();
    const url = await served(folder, '--no-demo');
    for (const page of those) await expect(type(page, folder, url)).resolves.toBeUndefined();
  });
});
