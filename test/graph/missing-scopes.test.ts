import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Scope } from '../../src/resolvers/context.ts';
import { sharedWorld, type SharedWorld } from './shared-world.ts';

let world: SharedWorld;
beforeAll(async () => {
  world = await sharedWorld();
});
afterAll(() => world.stop());

describe('a token that lacks several scopes', () => {
  it('is told all missing scopes at once', async () => {
    const token = await world.token(['workspace:admin']);
    const answer = await world.ask(
      '{ teams { nodes { slug members { totalCount } } } issues { nodes { title } } }',
      {},
      token,
    );
    const [error, ...more] = answer.body.errors ?? [];
    expect(more).toEqual([]);
    expect(error?.extensions?.errors).toEqual(
      expect.arrayContaining([
        { field: 'Query.teams', message: 'needs teams:read' },
        { field: 'Team.slug', message: 'needs teams:read' },
        { field: 'Team.members', message: 'needs members:read' },
        { field: 'Query.issues', message: 'needs issues:read' },
        { field: 'Issue.title', message: 'needs issues:read or issues:write' },
      ]),
    );
  });

  it('is told all scopes that the ids of `nodes` and the fields of a filter need', async () => {
    const missingOf = async (query: string, variables: Record<string, unknown>, scopes: Scope[]) => {
      const { body } = await world.ask(query, variables, await world.token(scopes));
      return body.errors?.[0]?.extensions?.errors;
    };
    const ids = ['Team', 'Member', 'Project'].map((name) => world.model.all(name)[0]?.id);
    expect(
      await missingOf('query ($ids: [ID!]!) { nodes(ids: $ids) { __typename } }', { ids }, ['issues:read']),
    ).toEqual([
      { field: 'Query.nodes', message: 'needs teams:read for its arguments' },
      { field: 'Query.nodes', message: 'needs members:read for its arguments' },
      { field: 'Query.nodes', message: 'needs projects:read for its arguments' },
    ]);
    const filtered =
      '{ issues(filter: { reporter: { emailAddress: { eq: "a@example.com" } } }) { __typename } }';
    expect(await missingOf(filtered, {}, ['teams:read'])).toEqual([
      { field: 'Query.issues', message: 'needs issues:read' },
      { field: 'Query.issues', message: 'needs issues:read or issues:write for its arguments' },
      { field: 'Query.issues', message: 'needs members:read for its arguments' },
    ]);
  });
});
