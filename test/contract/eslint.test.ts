import { parser, rules } from '@graphql-eslint/eslint-plugin';
import { expect, it } from '@jest/globals';
import { ESLint, type Linter } from 'eslint';
import { printSchema } from 'graphql';
import { schema } from '../../src/schema/index.ts';

const relayRules: Linter.RulesRecord = {
  'graphql/relay-arguments': 'error',
  'graphql/relay-connection-types': 'error',
  // Small closed sets are plain lists, and a connection offers `nodes` beside `edges` (graph.md, "Conventions").
  'graphql/relay-edge-types': ['error', { listTypeCanWrapOnlyEdgeType: false }],
  'graphql/relay-page-info': 'error',
};

it('the schema passes the Relay rules of graphql-eslint', async () => {
  expect(await messagesOn(printSchema(schema))).toEqual([]);
});

// Otherwise the test above would also pass if the rules did not run.
const validSchema = `
  type Query { teams(first: Int, after: String, last: Int, before: String): TeamConnection! }
  interface Node { id: ID! }
  type Team implements Node { id: ID! }
  type TeamConnection { edges: [TeamEdge!]! nodes: [Team!]! pageInfo: PageInfo! }
  type TeamEdge { cursor: String! node: Team! }
  type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
`;
it.each([
  ['relay-arguments', 'after: String,', ''],
  ['relay-connection-types', 'edges: [TeamEdge!]!', 'edges: TeamEdge'],
  ['relay-edge-types', 'cursor: String!', ''],
  ['relay-page-info', 'hasNextPage: Boolean!', 'hasNextPage: Boolean'],
])('%s reports a violation', async (rule, valid, invalid) => {
  expect(await messagesOn(validSchema)).toEqual([]);
  const messages = await messagesOn(validSchema.replace(valid, invalid));
  expect(messages.map((message) => message.split(' ')[0])).toContain(`graphql/${rule}`);
});

async function messagesOn(graphqlSDL: string): Promise<string[]> {
  const eslint = new ESLint({
    overrideConfigFile: true,
    overrideConfig: {
      files: ['**/*.graphql'],
      languageOptions: { parser, parserOptions: { graphQLConfig: { schema: graphqlSDL } } },
      plugins: { graphql: { rules } },
      rules: relayRules,
    } as Linter.Config,
  });
  const results = await eslint.lintText(graphqlSDL, { filePath: 'schema.graphql' });
  return results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, line }) => `${ruleId} ${line}: ${message}`),
  );
}
