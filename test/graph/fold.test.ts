import { expect, it } from '@jest/globals';
import { fold } from '../../src/model/fold.ts';
import { Violations } from '../../src/resolvers/errors.ts';
import { filterPredicate } from '../../src/resolvers/filters.ts';
import '../../src/schema/index.ts';
import { Team } from '../../src/schema/teams.ts';

it.each([
  ['Zoë', 'zoe'],
  ['ŁÓDŹ', 'łodz'],
  ['ﬁne', 'fine'],
  ['ΠΑΣ', fold('Πασχάλης').slice(0, 3)],
])('folds %s to what a search for it within a word finds', (name, folded) => {
  expect(fold(name)).toBe(folded);
});

it.each([
  ['code', 'Éng', 'ENG'],
  ['code', 'straß', 'STRAß'],
  ['slug', 'Ｄésign', 'design'],
])('a filter compares %s with %s without case, accents and width', (field, given, compared) => {
  const filter = filterPredicate(Team.filterFields(), { [field]: { eq: given } }, new Violations());
  expect(JSON.stringify(filter)).toContain(`"value":"${compared}"`);
});
