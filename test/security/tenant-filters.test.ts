// @own-process, because it records statements, which are built only once in a process.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { RootOperationNode } from 'kysely';
import { unboundIn } from '../support/tenant-prover/bound-rule.ts';
import { onStatement } from '../support/tenant-prover/install.ts';
import { objectFields, objectTypes } from '../graph/schema-walk.ts';
import { dataOf } from '../graph/graph-answer.ts';
import { positionsOf, type Sample } from './positions.ts';
import { mutantsOf } from './statement-mutants.ts';
import { ownValues } from './trials.ts';
import { startTwins, type TwinWorlds } from './twin-worlds.ts';
import { requiredArguments, shortestPaths, wholeSelection } from './selection-paths.ts';

let twins: TwinWorlds;
let sample: Sample;
/** The statements that handles of workspaces send, after the tenant plugin, by shape. */
const statements = new Map<string, RootOperationNode>();
let stopListening: () => void;

beforeAll(async () => {
  stopListening = onStatement(({ node }) => void statements.set(shapeOf(node), node));
  twins = await startTwins();
  sample = (naming) => ownValues(naming, twins)[0] ?? '';
});
afterAll(async () => {
  stopListening();
  await twins.stop();
});

/** The statement without its values. */
function shapeOf(node: RootOperationNode): string {
  return JSON.stringify(node, (name, value: unknown) =>
    name === 'value' || name === 'values' ? undefined : value,
  );
}

// First, because operations of a caller with many refusals take turns, so that writes are not batched.
it('records the statements of batched writes', async () => {
  const { here } = twins;
  const data = dataOf(await here.ask('{ issues(first: 8) { nodes { key } } teams { nodes { id } } }'));
  const { issues, teams } = data as Record<'issues' | 'teams', { nodes: Record<'key' | 'id', string>[] }>;
  const together = () => [...statements.keys()].filter((shape) => shape.includes('"SkipLocked"')).length;
  const before = together();
  const write = async (times: number) => {
    const mutations = Array.from({ length: times }, (_, index) => {
      const { key } = issues.nodes[index % issues.nodes.length] ?? {};
      const { id } = teams.nodes[index % teams.nodes.length] ?? {};
      return [
        `commentCreate(input: { issueKey: "${key}", body: "Here" }) { comment { id } }`,
        `issueUpdate(input: { key: "${key}", title: "Changed" }) { issue { id } }`,
        `issueCreate(input: { teamId: "${id}", title: "New" }) { issue { id } }`,
      ];
    }).flat();
    for (const { body } of await Promise.all(mutations.map((one) => here.ask(`mutation { ${one} }`))))
      expect(body.errors).toBeUndefined();
  };
  // Batches of comments, of changes and of new issues. A write that arrives alone is not batched.
  for (let times = 8; together() < before + 3 && times < 100; times *= 2) await write(times);
  expect(together()).toBeGreaterThanOrEqual(before + 3);
});

it('records the statements of all kinds of operations', async () => {
  const { here } = twins;
  const paths = shortestPaths('Query', sample);
  for (const { name } of objectTypes) {
    const path = paths.get(name);
    if (!path || name === 'Query') continue;
    const fields = objectFields
      .filter(({ parent }) => parent === name)
      .map(({ field }) => field.name + requiredArguments(field, sample) + wholeSelection(field));
    dataOf(await here.ask(`${path.prefix}${fields.join(' ')}${path.suffix}`));
  }
  for (const of of objectFields.filter(({ field }) => field.args.length > 0)) {
    const positions = positionsOf(of, sample, { relations: 1, combinators: false, whole: false });
    const { field, parent } = of;
    for (const position of positions.filter(({ naming }) => naming.by !== 'cursor')) {
      const type = String(position.argument.type);
      const tested = { argument: position.argument, variable: 'value' };
      const selection = field.name + requiredArguments(field, sample, tested) + wholeSelection(field);
      const path = paths.get(parent);
      const values = ownValues(position.naming, twins).toReversed();
      for (const value of parent === 'Mutation' ? values : values.slice(-1)) {
        const document =
          parent === 'Mutation'
            ? `mutation ($value: ${type}) { ${selection} }`
            : `query ($value: ${type}) ${path?.prefix}${selection}${path?.suffix}`;
        const { body } = await here.ask(document, { value: position.buildValue(value) });
        if (!body.errors) break;
      }
    }
  }
  expect(statements.size).toBeGreaterThan(150);
});

it('the prover accepts each statement, and refuses it when any tenant filter is missing or weakened', () => {
  const judge = (node: RootOperationNode) => (unboundIn(node).length === 0 ? 'let through' : 'refused');
  expect([...statements.values()].filter((node) => judge(node) === 'refused')).toEqual([]);
  let filters = 0;
  const through = [...statements.values()].flatMap((statement) => {
    const mutants = mutantsOf(statement);
    filters += mutants.length;
    return mutants
      .filter(({ node }) => judge(node) === 'let through')
      .map(({ what }) => `${what} of ${shapeOf(statement).slice(0, 3000)}`);
  });
  console.info(
    `${statements.size} statements, ${filters} weakened tenant filters, ${through.length} accepted.`,
  );
  expect(filters).toBeGreaterThan(statements.size);
  expect(through).toEqual([]);
});
