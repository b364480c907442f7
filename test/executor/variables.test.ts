import { expect, it } from '@jest/globals';
import { parse } from 'graphql';
import { coerceVariables } from '../../src/executor/inputs/variables.ts';
import { InvalidRequest } from '../../src/executor/invalid-request.ts';
import { chooseOperation } from '../../src/executor/run/execute.ts';
import { fragmentsOf } from '../../src/executor/selections/operation.ts';
import { schema } from '../../src/schema/index.ts';

it.each([
  ['short', 'titel', 'Field "titel" is not defined by type "IssueFilter". Did you mean "title"?'],
  ['long', 'titel'.padEnd(20_000, 'x'), 'is not defined by type "IssueFilter".'],
])(
  'a %s name in variables that does not exist is refused, with a suggestion if it is short',
  (_, name, message) => {
    const document = parse('query ($filter: IssueFilter) { issues(filter: $filter) { totalCount } }');
    const operation = chooseOperation(document, undefined);
    const source = { schema, operation, fragments: fragmentsOf(document) };
    let refusal: unknown;
    try {
      coerceVariables(source, { filter: { [name]: 1 } });
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(InvalidRequest);
    expect((refusal as InvalidRequest).errors[0]?.message.endsWith(message)).toBe(true);
  },
);
