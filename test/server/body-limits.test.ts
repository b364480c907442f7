import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type App, startApp } from '../support/app.ts';
import { onReadiness } from './readiness-runs.ts';

const graphqlResponseType = 'application/graphql-response+json';

let app: App;
/** How often the resolver of `readiness` has run. */
let runs = 0;
beforeAll(async () => {
  app = await startApp({ sharesDatabase: true, settings: { MAX_OPERATION_COST: '10000' } });
  onReadiness(app, () => (runs += 1));
});
afterAll(() => app.stop());

describe('a body', () => {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });

  it('is refused with 413 by either API when it has more than a megabyte', async () => {
    const title = 'x'.repeat(1_000_000);
    const before = runs;
    const graphql = await app.graphql('{ readiness { status } }', { title });
    expect(graphql).toMatchObject({
      status: 413,
      statements: 0,
      body: { errors: [{ extensions: { code: 'PAYLOAD_TOO_LARGE' } }] },
    });
    const rest = await app.request('POST', '/v1/issues', { body: { title } });
    expect(rest).toMatchObject({ status: 413, statements: 0, body: { code: 'payload_too_large' } });
    expect(runs).toBe(before);
  });

  it('is refused without a token when it has more than 65,536 bytes, but not with one', async () => {
    const send = (token: string, length: number) =>
      app.graphql('{ health { status } }', { text: 'x'.repeat(length) }, { token });
    const empty = JSON.stringify({ query: '{ health { status } }', variables: { text: '' } }).length;
    expect((await send('', 65_536 - empty)).status).toBe(200);
    expect(await send('', 65_537 - empty)).toMatchObject({
      status: 413,
      body: { errors: [{ message: expect.stringContaining('65,536 bytes, the most without a token') }] },
    });
    expect((await send(app.token, 65_537 - empty)).status).toBe(200);
  });

  it('is refused by either API when it is nested 33 deep, and not when it is 32 deep', async () => {
    const query = '{ readiness { status } }';
    const before = runs;
    for (const field of ['variables', 'extensions']) {
      const sent = (depth: number) => ({
        body: { query, [field]: nested(depth) },
        headers: { accept: graphqlResponseType },
      });
      const refused = await app.request('POST', '/graphql', sent(33));
      expect(refused).toMatchObject({
        status: 400,
        statements: 0,
        body: { errors: [{ extensions: { code: 'QUERY_TOO_COMPLEX' } }] },
      });
      expect(runs).toBe(before + (field === 'variables' ? 0 : 1));
      expect((await app.request('POST', '/graphql', sent(32))).status).toBe(200);
    }
    const rest = (depth: number) =>
      app.request<{ errors: { message: string }[] }>('POST', '/v1/issues', { body: nested(depth) });
    expect((await rest(33)).body.errors).toEqual([
      { field: 'body', message: 'must not be nested more than 32 levels deep' },
    ]);
    expect((await rest(32)).body.errors).not.toContainEqual(expect.objectContaining({ field: 'body' }));
    expect((await rest(33)).statements).toBe(0);
  });

  it('is refused by either API when it has more than 50,000 values', async () => {
    const query = '{ readiness { status } }';
    // The body itself, the query and the list are values, too.
    const send = (count: number) =>
      app.request('POST', '/graphql', {
        body: {
          query,
          variables: { ones: Array.from({ length: count }, () => 1), text: '\\",[{'.repeat(60_000) },
        },
        headers: { accept: graphqlResponseType },
      });
    const before = runs;
    expect(await send(50_000)).toMatchObject({
      status: 400,
      statements: 0,
      body: {
        errors: [
          {
            message: 'The body must not have more than 50,000 values.',
            extensions: { code: 'QUERY_TOO_COMPLEX' },
          },
        ],
      },
    });
    expect(runs).toBe(before);
    expect((await send(49_900)).status).toBe(200);
    const rest = (count: number) =>
      app.request<{ errors: { message: string }[] }>('POST', '/v1/issues', {
        body: { labelIds: Array.from({ length: count }, () => ({})) },
      });
    expect(await rest(50_000)).toMatchObject({
      status: 400,
      statements: 0,
      body: { errors: [{ field: 'body', message: 'must not have more than 50,000 values' }] },
    });
    expect((await rest(49_000)).body.errors).not.toContainEqual(expect.objectContaining({ field: 'body' }));
  });

  it('is refused when it is an array of operations', async () => {
    const before = runs;
    const query = '{ readiness { status } }';
    const answer = await app.request('POST', '/graphql', {
      body: [{ query }, { query }],
      headers: { accept: graphqlResponseType },
    });
    expect(answer).toMatchObject({
      status: 400,
      body: {
        errors: [
          {
            message: expect.stringContaining('send one operation per request'),
            extensions: { code: 'INVALID_REQUEST' },
          },
        ],
      },
    });
    expect(runs).toBe(before);
  });
});
