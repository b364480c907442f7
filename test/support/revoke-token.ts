import type { App } from './app.ts';

/** Revokes a token through the API, as its owner would: with the token itself. */
export async function revokeToken(app: Pick<App, 'graphql'>, token: string): Promise<void> {
  const { body } = await app.graphql<{ viewer: { accessToken: { id: string } } }>(
    '{ viewer { accessToken { id } } }',
    {},
    { token },
  );
  await app.graphql(
    'mutation ($id: ID!) { accessTokenRevoke(input: { id: $id }) { accessToken { id } } }',
    { id: body.data?.viewer.accessToken.id },
    { token },
  );
}
