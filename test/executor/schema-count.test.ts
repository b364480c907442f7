import { expect, it } from '@jest/globals';
import { buildSchema, type OperationDefinitionNode, parse } from 'graphql';
import { SchemaCount } from '../../src/executor/cost/schema-count.ts';
import { costTree } from '../../src/executor/cost/tree.ts';
import { fragmentsOf } from '../../src/executor/selections/operation.ts';

it('the count of an answer evaluates the conditions of a leaf once, however many objects of the schema have it', () => {
  const letters = Array.from({ length: 26 }, (_, n) => `f${n}`);
  const schema = buildSchema(`type Query { ${letters.map((name) => `${name}: Int`).join(' ')} }`);
  const document = parse(
    'query ($no: Boolean!) { __schema { types { fields { name @include(if: $no) type { kind } } } } }',
  );
  const operation = document.definitions[0] as OperationDefinitionNode;
  const [root] = costTree({ schema, operation, fragments: fragmentsOf(document) });
  if (!root) throw new Error('The operation selects nothing.');
  let tests = 0;
  const variables = {
    get no() {
      tests += 1;
      return false;
    },
  };
  const { objects } = new SchemaCount(variables).count(root, schema);
  expect(objects).toBeGreaterThan(26);
  expect(tests).toBe(1);
});
