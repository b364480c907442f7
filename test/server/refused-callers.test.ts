import { expect, it, jest } from '@jest/globals';
import { parse } from 'graphql';
import { coerceVariables, InvalidVariables } from '../../src/executor/inputs/variables.ts';
import { chooseOperation } from '../../src/executor/run/execute.ts';
import { fragmentsOf } from '../../src/executor/selections/operation.ts';
import { schema } from '../../src/schema/index.ts';
import { AdmissionTicket } from '../../src/server/limits/admission.ts';
import { startApp } from '../support/app.ts';

it('the operations of a caller take turns after more than ten refusals', async () => {
  const app = await startApp({ sharesDatabase: true });
  const query = 'query ($first: Int) { teams(first: $first) { totalCount } }';
  const turn = jest.spyOn(AdmissionTicket.prototype, 'turn');
  try {
    const turnsOf = async (token: string, first: unknown) => {
      turn.mockClear();
      const { body } = await app.graphql(query, { first }, { token });
      return { turns: turn.mock.calls.map(([bytes]) => bytes), isRefused: body.errors !== undefined };
    };
    const other = await app.tokenFor({ role: 'member' });
    // A document is cached when it is sent for the second time.
    for (const first of [1, 2, 3]) await turnsOf(app.token, first);
    expect(await turnsOf(app.token, 4)).toEqual({ turns: [], isRefused: false });
    for (let refused = 0; refused < 10; refused += 1)
      expect(await turnsOf(app.token, 'five')).toEqual({ turns: [], isRefused: true });
    expect(await turnsOf(app.token, 6)).toEqual({ turns: [], isRefused: false });
    expect(await turnsOf(app.token, 'seven')).toEqual({ turns: [], isRefused: true });
    expect(await turnsOf(app.token, 'eight')).toEqual({ turns: [4_096], isRefused: true });
    expect(await turnsOf(app.token, 9)).toEqual({ turns: [4_096], isRefused: false });
    expect(await turnsOf(other, 10)).toEqual({ turns: [], isRefused: false });
  } finally {
    turn.mockRestore();
    await app.stop();
  }
});

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
    expect(refusal).toBeInstanceOf(InvalidVariables);
    expect((refusal as InvalidVariables).errors[0]?.message.endsWith(message)).toBe(true);
  },
);
