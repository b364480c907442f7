import { expect, it } from '@jest/globals';
import { fold } from '../../src/model/fold.ts';

it.each([
  ['Zoë', 'zoe'],
  ['ŁÓDŹ', 'łodz'],
  ['ﬁne', 'fine'],
  ['ΠΑΣ', fold('Πασχάλης').slice(0, 3)],
])('folds %s to what a search for it within a word finds', (name, folded) => {
  expect(fold(name)).toBe(folded);
});
