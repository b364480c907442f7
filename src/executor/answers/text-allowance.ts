import { AnswerTooLargeError, ReadAllowance } from '../../db/engine/read-allowance.ts';
import type { Context } from '../../resolvers/context.ts';
import { maxAnswerBytes } from '../limits.ts';

/**
 * The context for one run of graphql-js, in which all texts of the answer together are limited. The allowance for what is read does
 * not limit them: a document may show one row under any number of aliases, and rich text is many times longer than its text.
 */
export function withTextAllowance<Operation extends Context>(context: Operation): Operation {
  const allowance = new ReadAllowance(maxAnswerBytes);
  const spendText = (bytes: number) => {
    if (!allowance.spend(bytes)) throw new AnswerTooLargeError();
  };
  return { ...context, spendText };
}
