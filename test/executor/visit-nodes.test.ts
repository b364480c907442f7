import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { type ASTNode, getIntrospectionQuery, parse, visit } from 'graphql';
import { documents } from '../../bench/workloads/documents.ts';
import { visitNodes } from '../../src/executor/documents/visit-nodes.ts';

const folder = join(import.meta.dirname, '../..');
const everyKind = `
  query Q($a: [Int!]! = [1, 2] @d(x: 1), $b: In = { c: { d: null } }) @skip(if: $a) {
    one: two(x: { y: [$a, "t", ENUM, 1.5, true] }) @include(if: true) { ...F @d ... on T @d { x } ... { y } }
  }
  mutation { m }
  subscription S { s }
  fragment F on T @d(x: $b) { x }`;
const texts = [
  everyKind,
  getIntrospectionQuery(),
  ...Object.values(documents),
  ...globSync('{docs/queries,src/rest-compat/operations}/*.graphql', { cwd: folder }).map((file) =>
    readFileSync(join(folder, file), 'utf8'),
  ),
];

it('visitNodes visits the same nodes in the same order as visit of graphql-js', () => {
  for (const text of texts) {
    const document = parse(text, { allowLegacyFragmentVariables: true });
    const visited: ASTNode[] = [];
    visit(document, { enter: (node) => void visited.push(node) });
    const walked: ASTNode[] = [];
    visitNodes(document, (node) => void walked.push(node));
    expect(walked.map(({ kind }) => kind)).toEqual(visited.map(({ kind }) => kind));
    expect(walked.every((node, index) => node === visited[index])).toBe(true);
  }
});
