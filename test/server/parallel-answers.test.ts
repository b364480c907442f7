import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sharedApp, type SharedApp } from '../support/shared-app.ts';

let app: SharedApp;
beforeAll(async () => {
  app = await sharedApp();
});
afterAll(() => app.stop());

/** Queries with different selections, for one to 250 rows of the demo. */
const queries = Array.from({ length: 40 }, (_, index) => {
  const size = 1 + ((index * 37) % 250);
  const order = index % 2 === 0 ? 'ASC' : 'DESC';
  const comments =
    index % 3 === 0 ? `comments(first: ${1 + (index % 4)}) { nodes { id bodyText createdUtc } }` : '';
  return `{ issues(first: ${size}, orderBy: { field: CREATED, direction: ${order} }) {
    nodes { id key title description ${comments} labels { name } } pageInfo { hasNextPage endCursor } } }`;
});

// Rows and answers are in buffers that are reused: a buffer that is returned too early would contain the data of another request.
it('requests in parallel get the same answers as requests one after another', async () => {
  const runQuery = async (query: string) => {
    const { status, body } = await app.graphql(query);
    return { status, body };
  };
  const sequentialAnswers = [];
  for (const query of queries) sequentialAnswers.push(await runQuery(query));
  for (let round = 0; round < 3; round += 1) {
    expect(await Promise.all(queries.map(runQuery))).toEqual(sequentialAnswers);
  }
});
