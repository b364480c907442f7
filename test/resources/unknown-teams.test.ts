import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import { codesOf, dataOf } from '../graph/graph-answer.ts';
import { sharedWorld, type SharedWorld } from '../graph/shared-world.ts';

let world: SharedWorld;
beforeAll(async () => {
  world = await sharedWorld();
});
afterAll(() => world.stop());

const query = 'query ($codes: [String!], $ids: [ID!]) { unknownTeams(codes: $codes, ids: $ids) }';
const absentId = encodeId('team', newUuid());

/** The message that refuses the arguments. */
async function refusal(variables: Record<string, unknown>): Promise<string | undefined> {
  const answer = await world.ask(query, variables);
  expect(codesOf(answer)).toEqual(['INVALID_REQUEST']);
  return answer.body.errors?.[0]?.message;
}

it('unknownTeams returns the codes and ids that name no team, unchanged', async () => {
  const [team] = world.model.all('Team');
  const codes = ['nowhere', String(team?.code).toLowerCase(), 'not a code'];
  const answer = await world.ask(query, { codes, ids: [team?.id, absentId] });
  expect(dataOf(answer)).toEqual({ unknownTeams: ['nowhere', 'not a code', absentId] });
  expect(dataOf(await world.ask(query))).toEqual({ unknownTeams: [] });
});

it('unknownTeams accepts at most 250 codes and ids together', async () => {
  const codes = Array<string>(249).fill('NOWHERE');
  expect(dataOf(await world.ask(query, { codes, ids: [absentId] }))).toEqual({
    unknownTeams: [...codes, absentId],
  });
  const tooMany = 'codes: takes 250 teams at most, with ids.';
  expect(await refusal({ codes, ids: [absentId, absentId] })).toBe(tooMany);
  expect(await refusal({ codes: [...codes, 'ONE', 'TWO'] })).toBe(tooMany);
});

it('unknownTeams refuses texts with NUL or half a surrogate pair, and ids of other kinds', async () => {
  const unsayable = 'codes: must not contain NUL or half a surrogate pair.';
  expect(await refusal({ codes: ['ENG', 'A\0'] })).toBe(unsayable);
  expect(await refusal({ codes: ['\ud800'] })).toBe(unsayable);
  expect(await refusal({ ids: [encodeId('issue', newUuid())] })).toMatch(/^ids: /);
  expect(await refusal({ ids: ['ENG'] })).toMatch(/^ids: /);
});
