import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { parseManifest } from '../../src/executor/documents/manifest.ts';
import { workgraph } from './workgraph.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'manifest-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function fileOf(name: string, document: string): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, document);
  return file;
}

it('manifest prints documents by their hashes, in the format that a server reads', async () => {
  const texts = ['query B { teams { totalCount } }\n', 'query A { issues { totalCount } }\n'];
  const files = await Promise.all(texts.map((text, index) => fileOf(`${index}.graphql`, text)));
  const { exitCode, stdout } = await workgraph(['manifest', ...files]);
  expect(exitCode).toBe(0);
  expect([...parseManifest(stdout).values()]).toEqual(texts.toReversed());
  expect(JSON.parse(stdout)).toMatchObject({
    format: 'apollo-persisted-query-manifest',
    operations: [
      { name: 'A', type: 'query' },
      { name: 'B', type: 'query' },
    ],
  });
});

it('manifest prints nothing when one of them does not fit the schema, and says which', async () => {
  const good = await fileOf('good.graphql', '{ teams { totalCount } }');
  const bad = await fileOf('bad.graphql', '{ nothing other }');
  const { exitCode, stdout, stderr } = await workgraph(['manifest', good, bad, join(directory, 'missing')]);
  expect([exitCode, stdout]).toEqual([1, '']);
  const [first, second, third] = stderr.split('\n');
  expect(first).toContain('bad.graphql:1:');
  expect(second).toContain('Cannot query field "other"');
  expect(third).toContain('ENOENT');
});

it('manifest leaves out a file that has only fragments, and says so', async () => {
  const fragment = 'fragment Name on Team { name }\n';
  const query = `{ teams { nodes { ...Name } } }\n${fragment}`;
  const files = [await fileOf('fragment.graphql', fragment), await fileOf('query.graphql', query)];
  const { exitCode, stdout, stderr } = await workgraph(['manifest', ...files]);
  expect([exitCode, [...parseManifest(stdout).values()]]).toEqual([0, [query]]);
  expect(stderr).toBe(`${files[0]} is left out: it has no operation, so no request can name it.\n`);
});

it('manifest refuses an unknown flag', async () => {
  expect(await workgraph(['manifest', '--nothing', 'x'])).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringContaining('Unknown --nothing'),
  });
});
