import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RepositoryCopy } from '../support/repository-copy.ts';
import { outsideOfNpm } from './outside-npm.ts';
import { hasServer } from '../db/engines.ts';

const installed = join(import.meta.dirname, '../../node_modules');
// The package brings a database of its own, whatever the other tests run on, so it is tried in one of the two runs.
const onEmbedded = hasServer ? describe.skip : describe;
/** A person's: without the Node of our own node_modules, which npm has put first. */
const path = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter);

onEmbedded('the package that npm pack makes, in an otherwise empty folder,', () => {
  let folder: string;
  let server: ChildProcess;
  let url: string;
  let authorization: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'workgraph-package-'));
    install(pack());
    server = spawn('npx', ['workgraph', 'serve', '--port', '0'], {
      cwd: folder,
      env: { ...outsideOfNpm(), PATH: path, DRAIN_MS: '0' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    url = await addressOf(server);
    authorization = `Bearer ${readFileSync(join(folder, '.workgraph/demo-token'), 'utf8').trim()}`;
  });

  afterAll(async () => {
    // Comes when all processes below npx have ended too, because they share its standard error.
    const ended = once(server, 'close');
    server.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });

  /** Packs a copy of the repository, because packing builds there, and gives the name of the package in `folder`. */
  function pack(): string {
    const copy = new RepositoryCopy();
    try {
      copy.run('npm', 'pack', '--pack-destination', folder);
    } finally {
      copy.remove();
    }
    const [file = ''] = globSync('*.tgz', { cwd: folder });
    return file;
  }

  /** By npm in CI, which has a registry; otherwise as npm would, but with links to what is installed for ourselves. */
  function install(file: string): void {
    if (process.env.CI) {
      run('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', file);
      return;
    }
    const own = join(folder, 'node_modules/workgraph');
    mkdirSync(own, { recursive: true });
    run('tar', '--extract', '--strip-components=1', `--file=${file}`, `--directory=${own}`);
    for (const name of dependenciesOf(own)) link(join(installed, name), join('node_modules', name));
    link('../workgraph/bin/workgraph.js', 'node_modules/.bin/workgraph');
  }

  function link(target: string, name: string): void {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    symlinkSync(target, join(folder, name));
  }

  function run(command: string, ...words: string[]): string {
    const token = authorization?.slice('Bearer '.length);
    const env = { ...outsideOfNpm(), PATH: path, WORKGRAPH_URL: url, WORKGRAPH_TOKEN: token, NO_COLOR: '1' };
    const { status, stdout, stderr } = spawnSync(command, words, { cwd: folder, env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${command} ${words.join(' ')}: ${status}\n${stdout}${stderr}`);
    return stdout;
  }

  async function ask<Data>(query: string): Promise<Data> {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { Authorization: authorization, 'Content-Type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    const { data, errors } = (await response.json()) as { data: Data; errors?: unknown };
    expect(errors).toBeUndefined();
    return data;
  }

  it('contains the built program and its pages, and nothing else', () => {
    const own = join(folder, 'node_modules/workgraph');
    const pages = [
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'docs',
      'examples',
    ];
    expect(readdirSync(own).toSorted()).toEqual([...pages, 'bin', 'dist', 'package.json'].toSorted());
    const built = ['demo', 'docs', 'migrations', 'openapi.json', 'package.json', 'schema.graphql', 'src'];
    expect(readdirSync(join(own, 'dist')).toSorted()).toEqual(built);
  });

  it('contains what its README links to', () => {
    const own = join(folder, 'node_modules/workgraph');
    const links = readFileSync(join(own, 'README.md'), 'utf8').matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g);
    const missing = [...links].flatMap(([, link = '']) => (existsSync(join(own, link)) ? [] : [link]));
    expect(missing).toEqual([]);
  });

  it('answers a query over its demo', async () => {
    const { teams } = await ask<{ teams: unknown }>('{ teams(first: 1) { totalCount nodes { name } } }');
    expect(teams).toEqual({ totalCount: 14, nodes: [{ name: 'Booking Web' }] });
  });

  it.each(['/', '/graphql', '/v1/docs', '/v1/docs/assets/reference.js', '/v1/openapi.json', '/v1/teams'])(
    'answers GET %s',
    async (address) => {
      const headers = { Authorization: authorization, Accept: 'text/html, */*' };
      const response = await fetch(`${url}${address}`, { headers });
      await response.arrayBuffer();
      expect(response.status).toBe(200);
    },
  );

  describe('with its client, as docs/client.md shows it,', () => {
    const page = readFileSync(join(installed, '../docs/client.md'), 'utf8');
    /** The examples by the name of their file, with what they print; nothing is shown of those that others import. */
    const examples = Array.from(
      page.matchAll(/```ts\n(\/\/ (\S+)\n.*?)\n```(?:\n\n```text\n(.*?)```)?/gs),
      ([, code = '', name = '', printed]) => ({ code, name, printed }),
    );

    beforeAll(() => {
      for (const { name, code } of examples) writeFileSync(join(folder, name), `${code}\n`);
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
      const compilerOptions = {
        module: 'nodenext',
        target: 'es2024',
        strict: true,
        noEmit: true,
        allowImportingTsExtensions: true,
        types: ['node'],
      };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
      // What a project in TypeScript has installed besides.
      for (const name of ['typescript', '@types/node']) {
        if (!existsSync(join(folder, 'node_modules', name)))
          link(join(installed, name), join('node_modules', name));
      }
    });

    it('is typed', () => {
      expect(run(process.execPath, join(installed, 'typescript/bin/tsc'))).toBe('');
    });

    it.each(examples.filter(({ printed }) => printed !== undefined))(
      'prints what the page says of $name',
      ({ name, printed }) => {
        expect(run(process.execPath, name)).toBe(printed);
      },
    );

    it('exports the configuration of codegen, and the collection', () => {
      const check = `
        import { codegenConfig } from 'workgraph/codegen';
        import collection from 'workgraph/collection.json' with { type: 'json' };
        console.log(codegenConfig.scalars.DateTime, collection.info.name);`;
      expect(run(process.execPath, '--input-type=module', '--eval', check)).toBe('string workgraph\n');
    });
  });

  it('draws the preview of a picture', async () => {
    const picture = readFileSync(join(installed, '../demo/files/screenshot-1.png'));
    const { attachmentCreate } = await ask<{
      attachmentCreate: { uploadUrl: string; attachment: { id: string } };
    }>(`mutation { attachmentCreate(input: {
      issueKey: "WEB-1", fileName: "a.png", contentType: "image/png", sizeBytes: ${picture.length}
    }) { uploadUrl attachment { id } } }`);
    const uploaded = await fetch(attachmentCreate.uploadUrl, { method: 'PUT', body: picture });
    expect(uploaded.status).toBe(204);
    const { node } = await ask<{ node: unknown }>(
      `{ node(id: "${attachmentCreate.attachment.id}") { ... on Attachment { isPreviewAvailable } } }`,
    );
    expect(node).toEqual({ isPreviewAvailable: true });
  });
});

/** What a package needs to run, as far as it is installed for this platform. */
function dependenciesOf(directory: string): string[] {
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(directory, 'package.json'), 'utf8'),
  ) as Record<'dependencies' | 'optionalDependencies', Record<string, string>>;
  return Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) =>
    existsSync(join(installed, name)),
  );
}

/** Waits until a server says where it is ready. */
function addressOf(server: ChildProcess): Promise<string> {
  let messages = '';
  return new Promise((resolve, reject) => {
    server.stderr?.on('data', (chunk) => {
      messages += String(chunk);
      const url = /workgraph is ready at (\S+)\n/.exec(messages)?.[1];
      if (url !== undefined) resolve(url);
    });
    server.on('close', () => reject(new Error(`The server ended before it was ready: ${messages}`)));
  });
}
