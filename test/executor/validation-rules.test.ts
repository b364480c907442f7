import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { type DocumentNode, getIntrospectionQuery, Lexer, parse, Source, TokenKind, validate } from 'graphql';
import { documents } from '../../bench/workloads/documents.ts';
import { Random } from '../support/random.ts';
import { allRules, rules } from '../../src/executor/documents/validation-rules.ts';
import { schema } from '../../src/schema/index.ts';

/** DOCUMENTS=20000 makes a long run; SEED=… repeats a run. */
const count = Number(process.env.DOCUMENTS ?? 1_500);
const seed = process.env.SEED ?? String(Date.now());

const folder = join(import.meta.dirname, '../..');
const texts = [
  getIntrospectionQuery(),
  ...Object.values(documents),
  ...globSync('{docs/queries,src/rest-compat/operations}/*.graphql', { cwd: folder }).map((file) =>
    readFileSync(join(folder, file), 'utf8'),
  ),
  'query ($a: ID!, $a: Nothing, $b: Issue) { issue(key: $c, key: $d) @skip(if: 1) @skip(if: true) { ...A } }',
  'fragment A on Issue { ...B } fragment B on Issue { ...A } fragment A on Team { name { x } } { team }',
  'subscription { changes @skip(if: true) { id } ... on Subscription @include(if: $a) { issues { kind } } }',
  'subscription { a b } query Q { teams { nodes } } query Q { nothing(x: { y: [$z] }) } type T { a: Int @d }',
  'directive @d on FIELD { ... on String { x } ... on Issue { x: key x: title } }',
];
const noise = [
  '...',
  '{ id }',
  'id',
  '@skip(if: true)',
  '(first: "x")',
  '$key',
  'x:',
  'query Q',
  'on Team',
  '{',
  '}',
];

it(`the combined rules report the same errors as the separate ones, with the same locations and order (SEED=${seed})`, () => {
  const random = new Random(seed);
  let invalid = 0;
  for (const text of texts) expectSame(parse(text));
  for (let n = 0; n < count; n += 1) {
    const document = mangled(random);
    if (document && expectSame(document) > 0) invalid += 1;
  }
  expect(invalid).toBeGreaterThan(count / 20);
});

/** Compares the errors and returns their number. */
function expectSame(document: DocumentNode): number {
  const summary = (errors: ReturnType<typeof validate>) =>
    errors.map(({ message, locations }) => ({ message, locations }));
  const alone = summary(validate(schema, document, rules));
  expect(summary(validate(schema, document, [allRules]))).toEqual(alone);
  return alone.length;
}

/** Removes, inserts and exchanges tokens of a random document. Undefined if the result cannot be parsed. */
function mangled(random: Random): DocumentNode | undefined {
  const tokens = tokensOf(random.pick(texts));
  for (let changes = random.integer(1, 3); changes > 0; changes -= 1) {
    const index = random.integer(0, tokens.length - 1);
    const other = random.pick(tokens);
    const added = random.chance(0.5) ? other : random.pick(noise);
    tokens.splice(index, random.integer(0, 1), ...(random.chance(1 / 3) ? [] : [added]));
  }
  try {
    return parse(tokens.join(' '));
  } catch {
    return undefined;
  }
}

function tokensOf(text: string): string[] {
  const lexer = new Lexer(new Source(text));
  const tokens: string[] = [];
  while (lexer.advance().kind !== TokenKind.EOF) tokens.push(text.slice(lexer.token.start, lexer.token.end));
  return tokens;
}
