import { expect, it } from '@jest/globals';
import { AnswerTooLargeError, ReadAllowance } from '../../src/db/engine/read-allowance.ts';

it.each([
  ['a text', { title: 'ten bytes.' }, 10],
  ['a text outside of ASCII', { title: 'größer' }, 8],
  ['an array of texts', { names: ['four', 'five', null] }, 8],
  ['JSON', { details: { by: ['me', { at: 'noon' }], count: 3, isLate: true } }, 6],
  ['bytes', { hash: Buffer.alloc(20) }, 20],
  ['neither', { count: 12, at: new Date(), gone: null }, 0],
])('the allowance is spent on rows with %s', (_, row, bytes) => {
  const enough = new ReadAllowance(3 * bytes);
  enough.spendRows([row, row, row]);
  expect(() => enough.spendRows([{ title: 'x' }])).toThrow(AnswerTooLargeError);
});
