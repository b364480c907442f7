import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { workgraph } from './workgraph.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'explain-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function explain(document: string, ...more: string[]) {
  const file = join(directory, 'query.graphql');
  await writeFile(file, document);
  return workgraph(['explain', file, ...more]);
}

it('explain prints the round trips of a query, their statements and its cost', async () => {
  const document = `
    query Board($size: Int!) {
      teams(first: $size) {
        nodes { code issues(first: 20) { totalCount nodes { title primaryAssignee { displayName } labels { name } } } }
      }
    }
    query Other { __typename }`;
  const { exitCode, stdout } = await explain(document, '--operation', 'Board', '--variables', '{"size":10}');
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^Board: at most [\d,]+ objects\n5 SQL statements in 3 round trips/);
  const [, first = '', second = '', third = ''] = stdout.split(/\nround trip \d\n/);
  expect(first).toMatch(/^ {2}select .*from "team" as "r0".* limit \$\d+\n$/);
  expect(second.split('\n').filter((line) => line !== '')).toHaveLength(2);
  expect(second).toContain('from "team_counter"');
  expect(third).toContain('from "member"');
  expect(third).toContain('from "label"');
});

it('explain reports when graphql-js has to answer', async () => {
  const { stdout } = await explain('{ __schema { queryType { name } } }');
  expect(stdout).toContain('the graphql-js executor');
});

it.each([
  ['{ teams { nodes { nothing } } }', [], '.graphql:1:19: Cannot query field "nothing"'],
  ['{\n  teams {', [], '.graphql:2:10: Syntax Error'],
  ['query ($size: Int!) { teams(first: $size) { totalCount } }', [], '"$size"'],
  ['query ($size: Int!) { teams(first: $size) { totalCount } }', ['--variables', 'no'], 'JSON object'],
  ['{ __typename }', ['--variables', 'null'], 'JSON object'],
  ['{ __typename }', ['--variables', '[]'], 'JSON object'],
  ['{ teams(first: 0) { totalCount } }', [], 'must be a whole number from 1 to 250'],
  ['query A { __typename } query B { __typename }', [], 'operation name'],
  ['{ __typename }', ['--nothing'], 'Unknown --nothing'],
])('explain reports what is wrong with %s %j', async (document, more, problem) => {
  const { exitCode, stdout, stderr } = await explain(document, ...more);
  // A wrong use of the command, as opposed to a wrong document, exits with 2.
  expect([exitCode, stdout]).toEqual([problem.startsWith('Unknown --') ? 2 : 1, '']);
  expect(stderr).toContain(problem);
});

it('explain names the file that does not exist', async () => {
  const file = join(directory, 'missing.graphql');
  expect(await workgraph(['explain', file])).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `There is no file ${file}.\n`,
  });
});
