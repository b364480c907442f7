import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hasServer, newServerDatabase, type TemporaryDatabase } from '../db/engines.ts';
import { copyIntoDirectory } from '../support/templates.ts';
import { serve, serveInTerminal, type Serving, workgraph } from './workgraph.ts';

const directories: string[] = [];
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'workgraph-serve-'));
  directories.push(directory);
  return directory;
}

function tokenIn(dataDir: string): string {
  return readFileSync(join(dataDir, 'demo-token'), 'utf8').trim();
}

/** Runs the requests that a server printed, unchanged. */
async function runPrinted(messages: string): Promise<unknown[]> {
  const requests = messages.match(/curl (?:[^\n]*\\\n)*[^\n]*/g) ?? [];
  return Promise.all(
    requests.map(async (request) => JSON.parse((await runFile('sh', ['-c', request])).stdout) as unknown),
  );
}
const runFile = promisify(execFile);

const hasToken = /wg_[0-9a-f]{48}/;
const bothAnswers = [
  { data: { viewer: { member: { displayName: expect.any(String) }, workspace: expect.any(Object) } } },
  { results: expect.any(Array), pagination: expect.any(Object) },
];

async function ownId(url: string, token: string): Promise<string> {
  const answer = (await ask(url, token, '{ viewer { accessToken { id } } }')) as {
    data: { viewer: { accessToken: { id: string } } };
  };
  return answer.data.viewer.accessToken.id;
}

async function ask(url: string, token: string | undefined, query: string): Promise<unknown> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ query }),
  });
  return response.json();
}

/** All files of the demo are asked for at once. */
const generous = { MAX_OPERATION_COST: '1000000000', COST_PER_HOUR: '1000000000' };

interface DemoFile {
  fileName: string;
  sizeBytes: number;
  previewKind: string;
  signedDownloadUrl: string;
  signedPreviewUrl: string | null;
}

describe('serve on the embedded database', () => {
  let dataDir: string;
  let serving: Serving | undefined;
  beforeAll(async () => {
    dataDir = newDirectory();
    // Empty, as after the first half of a first start: making the files takes too long to be tested here.
    await copyIntoDirectory('migrated', dataDir);
  });
  afterAll(() => serving?.end('SIGKILL'));

  it('loads the demo, prints requests that work unchanged, logs no secrets, and exits on a signal', async () => {
    serving = await serve(['--data-dir', dataDir]);
    const messages = serving.messages();
    const token = tokenIn(dataDir);
    expect(messages).not.toMatch(hasToken);
    expect(messages).toContain(`Demo token   in ${join(dataDir, 'demo-token')}\n`);
    expect(await runPrinted(messages)).toMatchObject(bothAnswers);
    expect(await ask(serving.url, token, '{ teams { totalCount } }')).toMatchObject({
      data: { teams: { totalCount: expect.any(Number) } },
    });
    expect(messages).toContain(`${serving.url}/graphql`);
    expect(messages).toContain(`${serving.url}/v1/teams`);
    expect(readFileSync(join(dataDir, 'demo-token'), 'utf8')).toBe(`${token}\n`);
    expect(statSync(join(dataDir, 'demo-token')).mode & 0o777).toBe(0o600);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);

    await fetch(`${serving.url}/v1/teams?query=secret`, { headers: { authorization: 'Bearer wg_secret' } });
    const query = encodeURIComponent('query Named { health { status } }');
    await fetch(`${serving.url}/graphql?query=${query}`);
    const startedMs = performance.now();
    expect(await serving.end()).toBe(0);
    expect(performance.now() - startedMs).toBeLessThan(10_000);

    const log = serving.log();
    serving = undefined;
    const lines = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toContainEqual(
      expect.objectContaining({
        method: 'GET',
        path: '/v1/teams',
        status: 401,
        requestId: expect.any(String),
        statements: 0,
      }),
    );
    expect(lines).toContainEqual(
      expect.objectContaining({ path: '/graphql', status: 200, operation: 'Named' }),
    );
    expect(log).not.toContain('secret');
    expect(log).not.toContain(token);
  });

  // `script` is another program on other systems.
  (process.platform === 'linux' ? it : it.skip).each([
    ['127.0.0.1', true],
    ['0.0.0.0', false],
  ])('shows the token on a terminal at %s: %s', async (host, isShown) => {
    const words = await serveInTerminal(['--host', host, '--data-dir', dataDir]);
    expect(words.includes(tokenIn(dataDir))).toBe(isShown);
    expect(words.includes(join(dataDir, 'demo-token'))).toBe(!isShown);
  });

  it('reuses the demo token at the next start, and locks the directory against a second server', async () => {
    const token = tokenIn(dataDir);
    chmodSync(join(dataDir, 'demo-token'), 0o644);
    serving = await serve([], { DATA_DIR: dataDir, ...generous });
    expect(tokenIn(dataDir)).toBe(token);
    expect(statSync(join(dataDir, 'demo-token')).mode & 0o777).toBe(0o600);
    expect(await runPrinted(serving.messages())).toMatchObject(bothAnswers);
    expect(serving.messages()).not.toContain('Making');
    expect(await ask(serving.url, token, '{ viewer { accessToken { id } } }')).toHaveProperty('data.viewer');
    const second = await workgraph(['serve', '--port', '0', '--data-dir', dataDir]);
    expect(second).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `The data directory ${dataDir} is held by another process (pid ${serving.child.pid}).\n`,
    });
  });

  it('has the bytes of all files of the demo, and displays each according to its row', async () => {
    // The server of the test before, which holds the directory.
    serving ??= await serve([], { DATA_DIR: dataDir, ...generous });
    const { data } = (await ask(
      serving.url,
      tokenIn(dataDir),
      `{ issues(first: 250, orderBy: { field: NUMBER, direction: ASC }) { nodes { attachments { nodes {
        fileName sizeBytes previewKind signedDownloadUrl signedPreviewUrl } } } } }`,
    )) as { data: { issues: { nodes: { attachments: { nodes: DemoFile[] } }[] } } };
    const files = data.issues.nodes.flatMap(({ attachments }) => attachments.nodes);
    expect(new Set(files.map(({ previewKind }) => previewKind)).size).toBe(5);
    const broken = [];
    for (const { fileName, sizeBytes, previewKind, signedDownloadUrl, signedPreviewUrl } of files) {
      const bytes = await fetch(signedDownloadUrl).then((response) => response.arrayBuffer());
      const preview = signedPreviewUrl && (await fetch(signedPreviewUrl));
      await (preview || undefined)?.arrayBuffer();
      const shown = preview ? preview.status : 'none';
      if (bytes.byteLength !== sizeBytes || shown !== (previewKind === 'NONE' ? 'none' : 200))
        broken.push({ fileName, previewKind, shown, length: bytes.byteLength });
    }
    expect(broken).toEqual([]);
  });

  it('does not replace a demo token that was revoked', async () => {
    // The server of the test before, which holds the directory.
    serving ??= await serve(['--data-dir', dataDir]);
    const token = tokenIn(dataDir);
    await ask(
      serving.url,
      token,
      `mutation { accessTokenRevoke(input: { id: "${await ownId(serving.url, token)}" }) { accessToken { id } } }`,
    );
    expect(await serving.end('SIGINT')).toBe(0);
    serving = await serve(['--data-dir', dataDir]);
    expect(serving.messages()).not.toContain('Demo token');
    expect(serving.messages()).toContain('npx workgraph token create');
  });
});

describe('a start that must fail', () => {
  it.each([
    [['--port', '99999'], {}, 2, /^--port must be a port from 0 to 65535\.\n$/],
    [[], { PORT: 'x', LOG_LEVEL: 'y' }, 2, /^PORT must be .*\.\nLOG_LEVEL must be .*\.\n$/],
    [['--prot', '1'], {}, 2, /^Unknown --prot/],
    [['now'], {}, 2, /^Unexpected argument "now"/],
    [
      ['--host', '192.0.2.1'],
      {},
      1,
      /^Cannot listen on 192\.0\.2\.1:4000: this machine does not have the address/,
    ],
    [
      ['--port', '0', '--metrics-address', '192.0.2.1:4001'],
      {},
      1,
      /^Cannot listen on 192\.0\.2\.1:4001: .* Choose another with --metrics-address\.\n$/,
    ],
    [
      ['--port', '0', '--database-url', 'postgres://127.0.0.1:1/x'],
      {},
      1,
      /^PostgreSQL at 127\.0\.0\.1:1 is unavailable: the connection was refused\.\n$/,
    ],
  ] as const)('says why at once, in words: %j %j', async (args, env, exitCode, words) => {
    const ran = await workgraph(['serve', '--data-dir', newDirectory(), ...args], env);
    expect(ran).toMatchObject({ exitCode, stdout: '' });
    expect(ran.stderr).toMatch(words);
  });

  it('reports at once that its data directory is a file', async () => {
    const file = join(newDirectory(), 'file');
    writeFileSync(file, '');
    const ran = await workgraph(['serve', '--port', '0', '--data-dir', file]);
    expect(ran).toMatchObject({ exitCode: 1, stderr: `${file} exists and is not a directory.\n` });
  });
});

(hasServer ? describe : describe.skip)('serve on PostgreSQL', () => {
  let temporary: TemporaryDatabase<{ url: string }>;
  let dataDir: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    temporary = await newServerDatabase();
    dataDir = newDirectory();
    env = { DATABASE_URL: temporary.location.url, DATA_DIR: dataDir };
  });
  afterAll(() => temporary.remove());

  it('changes the database only on request', async () => {
    const behind = await workgraph(['serve', '--port', '0'], env);
    expect(behind).toMatchObject({
      exitCode: 1,
      stderr: 'The database has no tables yet. Run `npx workgraph migrate`.\n',
    });
    expect(await workgraph(['migrate'], env)).toMatchObject({ exitCode: 0 });
    const bare = await serve([], env);
    expect(bare.messages()).not.toContain('Demo token');
    await bare.end();
    // Of two that start at once, one creates the demo, and the other waits for it.
    const [demo, second] = await Promise.all([
      serve(['--migrate', '--demo'], env),
      serve(['--migrate', '--demo'], { ...env, DATA_DIR: newDirectory() }),
    ]);
    await second.end();
    expect(demo.messages()).not.toMatch(hasToken);
    expect(await runPrinted(demo.messages())).toMatchObject(bothAnswers);
    await demo.end();
    // The demo is there now, with its token in this directory alone.
    const later = await serve([], env);
    expect(later.messages()).not.toMatch(hasToken);
    expect(await runPrinted(later.messages())).toMatchObject(bothAnswers);
    await later.end();
    const elsewhere = await serve([], { ...env, DATA_DIR: newDirectory() });
    expect(elsewhere.messages()).toContain('npx workgraph token create');
    await elsewhere.end();
    // A later start with the same flags finds it.
    const repeated = await serve(['--migrate', '--demo'], env);
    expect(repeated.messages()).not.toContain('Creating the demo workspace');
    await repeated.end();
    const again = await workgraph(['seed'], env);
    expect(again).toMatchObject({
      exitCode: 1,
      stderr: 'The database already has the workspace Halyard & Tern.\n',
    });
  });

  it('adds no demo to a database that has other workspaces', async () => {
    const other = await newServerDatabase();
    const { url } = other.location;
    try {
      const own = { DATABASE_URL: url, DATA_DIR: newDirectory() };
      await workgraph(['migrate'], own);
      await workgraph(['workspace', 'create', '--name', 'Own'], own);
      expect(await workgraph(['serve', '--port', '0', '--demo'], own)).toMatchObject({
        exitCode: 1,
        stderr:
          'The database has workspaces but not the demo, and --demo fills only an empty one. Start without it; `npx workgraph seed` adds the demo beside the workspaces.\n',
      });
      const listed = await workgraph(['workspace', 'list', '--json'], own);
      expect(JSON.parse(listed.stdout)).toMatchObject([{ name: 'Own' }]);
      expect(await workgraph(['seed'], own)).toMatchObject({ exitCode: 0 });
      const both = await serve(['--demo'], own);
      await both.end();
    } finally {
      await other.remove();
    }
  });
});
