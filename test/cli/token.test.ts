import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { scopes } from '../../src/resolvers/context.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { type App, startApp } from '../support/app.ts';
import { member } from '../support/fixtures.ts';
import { copyIntoDirectory } from '../support/templates.ts';
import { inProcess, serve, type Serving, workgraph } from './workgraph.ts';

let dataDir: string;
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'workgraph-token-'));
  await copyIntoDirectory('migrated', dataDir);
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const long = 'x'.repeat(256);
const isBlank = 'must not be white space alone.';
const isTooLong = 'must have at most 255 characters.';
const run = (...args: string[]) => workgraph([...args, '--data-dir', dataDir]);
async function json<Printed>(...args: string[]): Promise<Printed> {
  const { exitCode, stdout, stderr } = await run(...args, '--json');
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(stdout.trim().split('\n')).toHaveLength(1);
  return JSON.parse(stdout) as Printed;
}

interface Workspace {
  id: string;
  token: string;
  owner: { memberId: string };
}
interface Token {
  id: string;
  token: string;
  scopes: string[];
  memberId: string;
  expiresUtc: string | null;
  revokedUtc: string | null;
}

describe('a server that was started with --no-demo', () => {
  let serving: Serving;
  beforeAll(async () => {
    serving = await serve(['--no-demo', '--data-dir', dataDir]);
  });
  afterAll(() => serving.end());

  const statusOf = async (token: string) =>
    (
      await fetch(`${serving.url}/graphql?query={viewer{scopes}}`, {
        headers: { authorization: `Bearer ${token}` },
      })
    ).status;

  it('leaves a new database empty', async () => {
    expect(serving.messages()).not.toContain('token   wg_');
    expect(await json('workspace', 'list')).toEqual([]);
  });

  it('creates a workspace with its owner and a token', async () => {
    const created = await json<Workspace>(
      'workspace',
      'create',
      '--name',
      'Ácme',
      '--owner',
      'Ada',
      '--owner-email',
      'Ada@x.example',
    );
    expect(created).toMatchObject({
      id: expect.stringMatching(/^workspace_/),
      token: expect.stringMatching(/^wg_/),
    });
  });

  it('runs commands through its socket, and sees their changes at once', async () => {
    const created = await json<Token>('token', 'create', '--workspace', 'acme', '--scopes', 'teams:read');
    expect(await statusOf(created.token)).toBe(200);
    expect((await json<Token[]>('token', 'list')).map(({ id }) => id)).toContain(created.id);
    expect(await json<Token>('token', 'revoke', created.id)).toMatchObject({
      id: created.id,
      revokedUtc: expect.any(String),
    });
    expect(await statusOf(created.token)).toBe(401);
    expect(serving.log()).not.toContain(created.token);
  });

  it('runs commands for processes that load neither an engine nor what checks settings', async () => {
    const file = join(dataDir, 'packages.json');
    const recorder = pathToFileURL(join(import.meta.dirname, '../support/loaded-packages.js'));
    const ran = await workgraph(['token', 'list', '--data-dir', dataDir], {
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${recorder.href}`,
      WORKGRAPH_TEST_PACKAGES: file,
      // Any setting besides the data directory would have to be checked.
      WIRE: '',
    });
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(['citty']);
  });

  it('runs no command whose other settings are wrong', async () => {
    const ran = await workgraph(['token', 'list', '--data-dir', dataDir], { EXECUTOR: 'nonsense' });
    expect(ran).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringMatching(/^EXECUTOR must/) });
  });

  it('fails commands with the same errors as without a server', async () => {
    const ran = await run('token', 'create', '--workspace', 'nobody');
    expect(ran).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'There is no workspace nobody; there is Ácme.\n',
    });
  });

  it('permits only the owner of the directory to use its socket', () => {
    expect(statSync(join(dataDir, 'socket')).mode & 0o777).toBe(0o600);
  });

  it('refuses what is not a command, and keeps running', async () => {
    const output = await new Promise<string>((resolve) => {
      const socket = connect(join(dataDir, 'socket'));
      let text = '';
      socket.on('data', (chunk) => (text += String(chunk)));
      socket.on('close', () => resolve(text));
      const body = JSON.stringify({ command: 'rm', args: {}, cwd: '/', isTerminal: false, columns: 80 });
      socket.end(
        `POST /commands HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    });
    expect(output).toContain('{"err":"The running server does not know the command `rm`');
    expect(output).toContain('{"exit":1}');
    expect((await fetch(`${serving.url}/health`)).status).toBe(200);
  });
});

it('without a server, a command prints its data on standard output and its messages on standard error', async () => {
  const { stdout, stderr } = await run('token', 'create', '--workspace', 'acme', '--expires', '30d');
  expect(stdout).toMatch(/^wg_[0-9a-f]{48}\n$/);
  expect(stderr).toMatch(/^Created token_\w+ for Ada/);
});

describe('the commands', () => {
  let app: App;
  let workspace: Workspace;
  beforeAll(async () => {
    app = await startApp();
    const created = await inProcess(app, 'workspace create', [
      '--name',
      'Ácme',
      '--owner',
      'Ada',
      '--owner-email',
      'Ada@x.example',
      '--json',
    ]);
    workspace = JSON.parse(created.stdout) as Workspace;
  });
  afterAll(() => app.stop());

  it('find a workspace by name or id, and require one when there are several', async () => {
    for (const named of [workspace.id, 'Ácme', 'acme']) {
      const { stdout } = await inProcess(app, 'token create', [
        '--workspace',
        named,
        '--scopes',
        'issues:read, teams:read',
        '--json',
      ]);
      expect(JSON.parse(stdout)).toMatchObject({
        id: expect.stringMatching(/^token_/),
        token: expect.stringMatching(/^wg_/),
        scopes: ['issues:read', 'teams:read'],
        memberId: workspace.owner.memberId,
        expiresUtc: null,
      });
    }
    expect(await inProcess(app, 'token list', [])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--workspace'),
    });
    for (const name of ['Twins', 'TWINS']) await inProcess(app, 'workspace create', ['--name', name]);
    expect(await inProcess(app, 'token list', ['--workspace', 'twins'])).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: 'Several workspaces are called twins; use an id instead.\n',
    });
  });

  it('create working tokens for the named member', async () => {
    for (const named of [workspace.owner.memberId, 'ada@X.example']) {
      const { stdout } = await inProcess(app, 'token create', [
        '--workspace',
        'acme',
        '--member',
        named,
        '--scopes',
        'teams:read',
      ]);
      const { body } = await app.graphql('{ viewer { scopes } }', {}, { token: stdout.trim() });
      expect(body).toEqual({ data: { viewer: { scopes: ['teams:read'] } } });
    }
  });

  it.each([
    ['owner', true],
    ['admin', true],
    ['member', false],
    ['guest', false],
  ] as const)('give a token of the role %s workspace:admin by default: %s', async (role, expected) => {
    const { id } = await member(app.database, app.workspaceId, { role });
    const words = ['--workspace', 'Test', '--member', encodeId('member', id), '--json'];
    const scopesOf = async (...more: string[]) =>
      (JSON.parse((await inProcess(app, 'token create', [...words, ...more])).stdout) as Token).scopes;
    const others = scopes.filter((scope) => scope !== 'workspace:admin');
    expect(await scopesOf()).toEqual(expected ? scopes : others);
    expect(await scopesOf('--scopes', 'workspace:admin')).toEqual(['workspace:admin']);
  });

  it('create no token for members who may not use one', async () => {
    const { id } = await member(app.database, app.workspaceId, { displayName: 'Sue', status: 'suspended' });
    const words = ['--workspace', 'Test', '--member', encodeId('member', id)];
    expect(await inProcess(app, 'token create', words)).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: 'Sue is suspended or removed and cannot use a token.\n',
    });
  });

  it('list tokens and workspaces for people and for scripts', async () => {
    await inProcess(app, 'token create', ['--workspace', 'acme', '--name', 'ci', '--expires', '30d']);
    const list = await inProcess(app, 'token list', ['--workspace', 'acme']);
    expect(list.stdout).toMatch(/token_\w+ +ci +Ada +until \d{4}-\d\d-\d\d/);
    await app.database.unscoped
      .updateTable('accessToken')
      .set({ expiresUtc: new Date(Date.now() - 60_000) })
      .where('name', '=', 'ci')
      .execute();
    const later = await inProcess(app, 'token list', ['--workspace', 'acme']);
    expect(later.stdout).toMatch(/token_\w+ +ci +Ada +expired \d{4}-\d\d-\d\d/);
    const scripted = await inProcess(app, 'workspace list', ['--json']);
    expect(JSON.parse(scripted.stdout)).toContainEqual(
      expect.objectContaining({ id: workspace.id, name: 'Ácme' }),
    );
    expect((await inProcess(app, 'workspace list', [])).stdout).toContain(workspace.id);
  });

  it.each([
    ['token create', ['--workspace', 'acm'], 1, 'There is no workspace acm; there are '],
    [
      'token create',
      ['--workspace', 'acme', '--member', 'nobody'],
      1,
      'The workspace has no member nobody; there is Ada.',
    ],
    [
      'token create',
      ['--workspace', 'acme', '--scopes', 'all'],
      2,
      'scopes: "all" is not a scope; the scopes are issues:read,',
    ],
    [
      'token create',
      ['--workspace', 'acme', '--scopes', 'issues:raed'],
      2,
      'workspace:admin; did you mean issues:read?\n',
    ],
    [
      'token create',
      ['--workspace', 'acme', '--scopes', ''],
      2,
      'scopes: must name at least one of issues:read,',
    ],
    ['token create', ['--workspace', 'acme', '--expires', 'soon'], 2, '--expires must be a time'],
    [
      'token create',
      ['--workspace', 'acme', '--expires', '2020-01-01T00:00:00Z'],
      2,
      'expiresUtc: must be in the future.',
    ],
    [
      'token revoke',
      ['team_00000000000000000000000000'],
      2,
      'The id of the token: expected a token id, got a team id.',
    ],
    ['token revoke', ['token_00000000000000000000000000'], 1, 'There is no access token'],
    ['workspace create', ['--name', ' '], 2, `name: ${isBlank}`],
    ['workspace create', ['--name', long], 2, `name: ${isTooLong}`],
    ['workspace create', ['--name', 'Two', '--owner', ' '], 2, `ownerDisplayName: ${isBlank}`],
    ['workspace create', ['--name', 'Two', '--owner', long], 2, `ownerDisplayName: ${isTooLong}`],
  ])('%s %j fails with a message', async (name, args, exitCode, words) => {
    const ran = await inProcess(app, name, args);
    expect(ran).toMatchObject({ exitCode, stdout: '' });
    expect(ran.stderr).toContain(words);
    expect(ran.stderr).not.toMatch(/\n\s+at /);
  });
});

describe('help', () => {
  it.each([
    '',
    'serve',
    'migrate',
    'seed',
    'token',
    'token create',
    'workspace',
    'import',
    'directory',
    'schema',
  ])('`workgraph %s --help` goes to standard output', async (command) => {
    const { exitCode, stdout, stderr } = await workgraph([...command.split(' ').filter(Boolean), '--help']);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`Usage  npx workgraph${command && ` ${command}`}`);
  });

  it('`workgraph schema` prints the schema', async () => {
    expect((await workgraph(['schema'])).stdout).toContain('type Issue implements Node');
  });

  it('an unknown flag is refused before anything is done', async () => {
    const similar = await workgraph(['token', 'create', '--scope', 'issues:read']);
    expect(similar).toEqual({ exitCode: 2, stdout: '', stderr: 'Unknown --scope; did you mean --scopes?\n' });
    const other = await workgraph(['token', 'create', '--colour', 'red']);
    expect(other).toEqual({ exitCode: 2, stdout: '', stderr: 'Unknown --colour; --help lists the flags.\n' });
  });

  // Without the refusal, each of the first two would print a token of the owner with all scopes.
  it.each([
    [['--member'], '--member'],
    [['--member', '--json'], '--member'],
    [['--scopes='], '--scopes'],
    [['--workspace', 'acme', '--expires'], '--expires'],
  ])('token create %j is refused, since a flag has no value', async (args, flag) => {
    const stderr = `${flag} needs a value; --help shows the usage.\n`;
    expect(await workgraph(['token', 'create', ...args])).toEqual({ exitCode: 2, stdout: '', stderr });
  });
});
