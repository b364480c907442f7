import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type App, startApp, type TestWorkspace } from '../support/app.ts';
import { whileIssuesAreBlocked } from '../support/blocked-issues.ts';

let app: App;
let busy: TestWorkspace;
let other: TestWorkspace;
beforeAll(async () => {
  app = await startApp({ settings: { MAX_CONCURRENCY: '4', REQUEST_TIMEOUT_MS: '60000' } });
  busy = await app.secondWorkspace();
  other = await app.secondWorkspace();
});
afterAll(() => app.stop());

it.each([
  ['GraphQL', () => app.graphql('{ issues(first: 1) { nodes { key } } }', {}, busy)],
  ['REST', () => app.request('GET', '/v1/issues?page_size=1', busy)],
])(
  'requests over %s that all wait for a table leave places to those of another workspace',
  async (_face, read) => {
    const teamsOfOther = async () => (await app.request('GET', '/v1/teams', other)).status;
    // Now the process knows the tokens of both, and that requests of both arrive.
    expect([(await read()).status, await teamsOfOther()]).toEqual([200, 200]);
    const reads = await whileIssuesAreBlocked(app, async () => {
      const blocked = Promise.all(Array.from({ length: 12 }, read));
      for (let n = 0; n < 3; n += 1) expect(await teamsOfOther()).toBe(200);
      return { blocked };
    });
    await reads.blocked;
  },
);
