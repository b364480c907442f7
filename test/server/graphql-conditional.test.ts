import { describe, expect, it } from '@jest/globals';
import { useIssueWorld } from '../support/use-issue-world.ts';

const { app, world, ada } = useIssueWorld();

/** A GET of /graphql, with its status, tag and text. */
async function get(
  query: string,
  {
    token = world.ada.token,
    tag = '',
    variables = {},
  }: { token?: string; tag?: string; variables?: object } = {},
) {
  const url = new URL('/graphql', app.url);
  url.search = String(new URLSearchParams({ query, variables: JSON.stringify(variables) }));
  const response = await fetch(url, {
    headers: {
      Authorization: `Bearer ${token}`,
      Accept: 'application/json',
      ...(tag && { 'If-None-Match': tag }),
    },
  });
  const { status, headers } = response;
  return { status, headers, tag: headers.get('etag') ?? '', text: await response.text() };
}

const title = 'query ($key: String!) { issue(key: $key) { title comments { totalCount } } }';

describe('a GET of /graphql', () => {
  it('is answered 304 as long as its answer is the same, and anew after a change', async () => {
    const { key } = await ada.create({ teamId: world.eng.id, title: 'First' });
    const variables = { key };
    const first = await get(title, { variables });
    expect(first).toMatchObject({ status: 200, tag: expect.stringMatching(/^"[\w-]+"$/) });
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    expect(first.headers.get('vary')).toMatch(/Authorization/);
    expect(await get(title, { variables, tag: first.tag })).toMatchObject({
      status: 304,
      tag: first.tag,
      text: '',
    });
    await ada.update(key, { title: 'Second' });
    const second = await get(title, { variables, tag: first.tag });
    expect(second).toMatchObject({ status: 200, text: expect.stringContaining('Second') });
    await ada.mutate('commentCreate', { issueKey: key, body: 'A comment' });
    expect((await get(title, { variables, tag: second.tag })).status).toBe(200);
  });

  it('gives a token nothing by the tag of another', async () => {
    const { key } = await ada.create({ teamId: world.eng.id, title: 'Ours' });
    const { tag } = await get(title, { variables: { key } });
    const { token } = await app.secondWorkspace();
    expect(await get(title, { variables: { key }, tag, token })).toMatchObject({
      status: 200,
      text: '{"data":{"issue":null}}',
    });
    const narrow = await app.tokenFor({ scopes: ['teams:read'] });
    expect((await get(title, { variables: { key }, tag, token: narrow })).text).toContain('errors');
  });

  it('has no tag where there are errors', async () => {
    for (const query of ['{ nothing }', '{ issue(id: "x") { id } }']) {
      const { tag, headers, text } = await get(query);
      expect(text).toContain('errors');
      expect([tag, headers.get('cache-control')]).toEqual(['', 'no-store']);
    }
  });

  it('has the tag of the coding in which it is answered', async () => {
    const query = '{ __schema { types { name description } } }';
    const { tag } = await get(query);
    expect(tag).toMatch(/^"[\w-]+-(?:br|gzip|zstd)"$/);
    expect((await get(query, { tag })).status).toBe(304);
  });

  it('is not conditional as a POST', async () => {
    const { headers } = await app.graphql(
      '{ viewer { scopes } }',
      {},
      { headers: { 'If-None-Match': '*' }, token: world.ada.token },
    );
    expect([headers.get('etag'), headers.get('cache-control')]).toEqual([null, 'no-store']);
  });
});
