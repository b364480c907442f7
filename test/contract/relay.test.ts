import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { printSchema } from 'graphql';
import { connectionFields, type FieldOf, rowTypeOf } from '../graph/schema-walk.ts';
import { schema } from '../../src/schema/index.ts';

const compiler = join(import.meta.dirname, '../../node_modules/.bin/relay-compiler');
const directions = [
  { name: 'Forward', page: 'first: $count, after: $cursor' },
  { name: 'Backward', page: 'last: $count, before: $cursor' },
] as const;
type Direction = (typeof directions)[number];

let project: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'workgraph-relay-'));
  await mkdir(join(project, 'src/__generated__'), { recursive: true });
  await writeFile(join(project, 'schema.graphql'), printSchema(schema));
  await writeFile(
    join(project, 'relay.config.json'),
    JSON.stringify({
      src: './src',
      schema: './schema.graphql',
      language: 'javascript',
      artifactDirectory: './src/__generated__',
    }),
  );
});

afterAll(() => rm(project, { recursive: true, force: true }));

it('the Relay compiler accepts a pagination query for every connection, forwards and backwards', async () => {
  const lists = connectionFields.flatMap((list) => directions.map((direction) => ({ list, direction })));
  expect(connectionFields.length).toBeGreaterThan(20);
  const fragments = lists.map(({ list, direction }) => paginationFragment(list, direction));
  await writeFile(
    join(project, 'src/Lists.js'),
    `import { graphql } from 'react-relay';\n${fragments.map((text) => `graphql\`${text}\`;\n`).join('')}`,
  );
  await compile();
  const written = await readdir(join(project, 'src/__generated__'));
  const expected = lists.flatMap(({ list, direction }) => [
    `${fragmentName(list, direction)}.graphql.js`,
    `${queryName(list, direction)}.graphql.js`,
  ]);
  expect(written.toSorted()).toEqual(expected.toSorted());
});

/** A fragment that Relay can refetch with the next page, from the root or from the parent by `node(id)`. */
function paginationFragment(list: FieldOf, direction: Direction): string {
  const row = rowTypeOf(list);
  const name = fragmentName(list, direction);
  return `
    fragment ${name} on ${list.parent}
    @argumentDefinitions(
      count: { type: "Int", defaultValue: 10 }
      cursor: { type: "String" }
      filter: { type: "${row}Filter" }
      orderBy: { type: "${row}Order" }
    )
    @refetchable(queryName: "${queryName(list, direction)}") {
      ${list.field.name}(${direction.page}, filter: $filter, orderBy: $orderBy) @connection(key: "${name}_${list.field.name}") {
        totalCount
        edges { node { id } }
      }
    }`;
}

/** Relay requires that names begin with that of the module. */
function fragmentName({ parent, field }: FieldOf, { name }: Direction): string {
  return `Lists_${parent}_${field.name}_${name}`;
}

function queryName({ parent, field }: FieldOf, { name }: Direction): string {
  return `Lists${parent}${field.name.slice(0, 1).toUpperCase()}${field.name.slice(1)}${name}Query`;
}

/** Runs the compiler. It reports mistakes on its standard output or error, so an error contains both. */
async function compile(): Promise<void> {
  const run = promisify(execFile)(compiler, ['relay.config.json'], { cwd: project });
  await run.catch((failure: { stdout?: string; stderr?: string; message: string }) => {
    throw new Error([failure.message, failure.stdout, failure.stderr].join('\n'));
  });
}
