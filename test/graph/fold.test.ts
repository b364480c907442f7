import { expect, it } from '@jest/globals';
import { fold } from '../../src/model/fold.ts';
import { limits } from '../../src/model/limits.ts';
import { Violations } from '../../src/resolvers/errors.ts';
import { filterPredicate } from '../../src/resolvers/filters.ts';
import '../../src/schema/index.ts';
import { Team } from '../../src/schema/teams.ts';
import { randomOf } from '../support/samples.ts';

it.each([
  ['Zoë', 'zoe'],
  ['ŁÓDŹ', 'łodz'],
  ['ﬁne', 'fine'],
  ['ΠΑΣ', fold('Πασχάλης').slice(0, 3)],
])('folds %s to what a search for it within a word finds', (name, folded) => {
  expect(fold(name)).toBe(folded);
});

it('removes the marks of all scripts, and keeps all other characters', () => {
  const random = randomOf('marks');
  const some = () => String.fromCodePoint(random.integer(0, 0x10ffff));
  const every = Array.from({ length: 0x110000 }, (_, codePoint) => String.fromCodePoint(codePoint));
  for (const text of [
    every.join(''),
    every.join('a'),
    ...Array.from({ length: 1_000 }, () => some() + some() + some()),
  ])
    expect(
      fold(text) === text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('ς', 'σ'),
    ).toBe(true);
});

it.each([
  ['code', 'Éng', 'ENG'],
  ['code', 'straß', 'STRAß'],
  ['slug', 'Ｄésign', 'design'],
])('a filter compares %s with %s without case, accents and width', (field, operand, compared) => {
  const filter = filterPredicate(Team.filterFields(), { [field]: { eq: operand } }, new Violations());
  expect(JSON.stringify(filter)).toContain(`"value":"${compared}"`);
});

it('a filter compares a text that is as long as a title can be when it is folded, and refuses a longer one', () => {
  const violations = new Violations();
  const compare = (length: number) =>
    filterPredicate(Team.filterFields(), { name: { eq: '\uFDFA'.repeat(length) } }, violations);
  expect(JSON.stringify(compare(limits.title))).toContain(fold('\uFDFA'.repeat(limits.title)));
  expect(violations.any).toBe(false);
  compare(limits.title + 1);
  expect(() => violations.throwIfAny()).toThrow(
    'filter.name.eq: must have at most 4,590 characters when its ligatures are written out.',
  );
});
