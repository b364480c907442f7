import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sharedApp, type SharedApp } from '../support/shared-app.ts';

let app: SharedApp;
beforeAll(async () => {
  app = await sharedApp();
});
afterAll(() => app.stop());

/** Of different lengths and selections, from none to all rows of the demo. */
const queries = Array.from({ length: 40 }, (_, place) => {
  const size = 1 + ((place * 37) % 250);
  const order = place % 2 === 0 ? 'ASC' : 'DESC';
  const below =
    place % 3 === 0 ? `comments(first: ${1 + (place % 4)}) { nodes { id bodyText createdUtc } }` : '';
  return `{ issues(first: ${size}, orderBy: { field: CREATED, direction: ${order} }) {
    nodes { id key title description ${below} labels { name } } pageInfo { hasNextPage endCursor } } }`;
});

// Rows and answers stand in buffers that are used again: who was given one too early would show another's.
it('requests in parallel get the same answers as requests one after another', async () => {
  const ask = async (query: string) => {
    const { status, body } = await app.graphql(query);
    return { status, body };
  };
  const alone = [];
  for (const query of queries) alone.push(await ask(query));
  for (let round = 0; round < 3; round += 1) {
    expect(await Promise.all(queries.map(ask))).toEqual(alone);
  }
});
