import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { scopes as allScopes } from '../../src/resolvers/context.ts';
import type { Answer } from '../support/app.ts';
import { sharedApp, type SharedApp } from '../support/shared-app.ts';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { expectFields, problem } from './fields.ts';

let app: SharedApp;
beforeAll(async () => {
  app = await sharedApp();
});
afterAll(() => app.stop());

/** Sends a path unchanged, which fetch would normalize. */
function raw(method: string, path: string): Promise<{ status: number | undefined; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined; body: string }>();
  const sent = httpRequest(
    app.url,
    { method, path, headers: { authorization: `Bearer ${app.token}` } },
    (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode, body: Buffer.concat(chunks).toString() }),
      );
    },
  );
  sent.on('error', reject).end();
  return promise;
}

function expectProblem(answer: Answer, status: number, code: string): void {
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expectFields(answer.body, problem);
  expect(answer.body).toMatchObject({ type: 'about:blank', status, code });
  const { requestId } = answer.body as { requestId: string };
  expect(answer.headers.get('x-request-id')).toBe(requestId);
}

describe('paths and methods', () => {
  const nowhere = [
    '/v1',
    '/v1/',
    '/v1/team',
    '/v1/teams/',
    '/v1/teams/ENG/',
    '/v1/TEAMS',
    '/v1//teams',
    '/v1/teams/%FF',
    '/v1/teams/%',
    '/v2/teams',
  ];

  it.each(nowhere)(
    '%s is not a route and is answered 404, before any credential is checked',
    async (path) => {
      const { status, body } = await raw('GET', path);
      expect(status).toBe(404);
      expect(JSON.parse(body)).toMatchObject({ code: 'not_found' });
      expectProblem(await app.request('GET', path, { token: null }), 404, 'not_found');
    },
  );

  it.each(['/v1/./teams', '/v1/x/../teams', '//v1/teams', '/v1/teams%2F'])(
    '%s is not another way to write a path',
    async (path) => {
      expect((await raw('GET', path)).status).toBe(404);
    },
  );

  it('matches a path whose letters are percent-encoded', async () => {
    expect((await raw('GET', '/v1/t%65ams')).status).toBe(200);
  });

  it.each([
    ['/v1/teams', 'GET, HEAD, OPTIONS', 'POST'],
    ['/v1/teams/ENG', 'GET, HEAD, OPTIONS', 'DELETE'],
    ['/v1/issues', 'POST, GET, HEAD, OPTIONS', 'PUT'],
    ['/v1/issues/ENG-1', 'PATCH, DELETE, GET, HEAD, OPTIONS', 'PUT'],
    ['/v1/issues/ENG-1/comments', 'GET, HEAD, POST, OPTIONS', 'PATCH'],
  ])('%s allows %s: 405 for the rest comes before 401, OPTIONS is 204', async (path, allow, method) => {
    const refused = await app.request(method, path, { token: null });
    expectProblem(refused, 405, 'method_not_allowed');
    expect(refused.headers.get('allow')).toBe(allow);
    const options = await app.request('OPTIONS', path, { token: null });
    expect(options).toMatchObject({ status: 204, body: '' });
    expect(options.headers.get('allow')).toBe(allow);
  });

  it.each(routeTable.map(({ path }) => path))(
    '%s takes no method that is not declared: 405 with Allow',
    async (path) => {
      const methods = routeTable.filter((route) => route.path === path).map(({ method }) => method as string);
      const filled = path.replaceAll(/\{\w+\}/g, 'x');
      const options = await app.request('OPTIONS', filled, { token: null });
      const allow = options.headers.get('allow')?.split(', ') ?? [];
      const implied = methods.includes('GET') ? ['HEAD', 'OPTIONS'] : ['OPTIONS'];
      expect(allow.toSorted()).toEqual([...methods, ...implied].toSorted());
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(
        (each) => !methods.includes(each),
      ))
        expectProblem(await app.request(method, filled, { token: null }), 405, 'method_not_allowed');
    },
  );

  it.each(routeTable.map(({ path }) => path))(
    '%s with a slash at the end, or another case, is nowhere',
    async (path) => {
      const filled = path.replaceAll(/\{\w+\}/g, 'x');
      for (const wrong of [
        `${filled}/`,
        filled.replace(/\/(\w)/, (_all, letter: string) => `/${letter.toUpperCase()}`),
      ])
        expect([wrong, (await raw('GET', wrong)).status]).toEqual([wrong, 404]);
    },
  );

  it('sends the name of the operation that ran, and none if none ran', async () => {
    const operation = async (path: string, token?: null) =>
      (await app.request('GET', path, { token })).headers.get('x-graphql-operation');
    expect(await operation('/v1/teams')).toBe('Teams');
    expect(await operation('/v1/teams/NOPE')).toBe('Team');
    expect(await operation('/v1/teams?page_size=0')).toBeNull();
    expect(await operation('/v1/teams', null)).toBeNull();
  });

  it('answers HEAD like GET without the body, failures included', async () => {
    for (const path of ['/v1/teams', '/v1/teams?page_size=0', '/v1/teams/NOPE']) {
      const get = await app.request('GET', path);
      const head = await app.request('HEAD', path);
      expect(head).toMatchObject({ status: get.status, body: '' });
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
    }
  });
});

describe('credentials', () => {
  const nobody = '01h455vb4pex5vsknk084sn02q';
  // Names of objects that do not exist, because requests must not change the shared server.
  const names: Readonly<Record<string, string>> = {
    issueKey: 'NOPE-1',
    teamCode: 'NOPE',
    projectKey: 'NOPE',
  };
  const endpoints = routeTable
    .filter(({ scope }) => scope !== 'public')
    .map(({ method, path, scope }) => {
      const filled = path.replaceAll(
        /\{(\w+)\}/g,
        (_all, name: string) => names[name] ?? `${name.replace(/Id$/, '')}_${nobody}`,
      );
      return [method, filled, scope, path] as const;
    });
  const broken = { body: '{', headers: { 'Content-Type': 'text/plain' } };

  it.each(endpoints)('%s %s without a token is 401, whatever else is wrong', async (method, path) => {
    const sent = { token: null, ...(method === 'GET' ? {} : broken) };
    const answer = await app.request(method, path, sent);
    expectProblem(answer, 401, 'unauthenticated');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="workgraph"');
    expect(answer.statements).toBe(0);
  });

  const realm = 'Bearer realm="workgraph"';

  it.each([
    ['Bearer wg_unknown', `${realm}, error="invalid_token"`],
    ['bearer', `${realm}, error="invalid_token"`],
    ['Basic d29yazpncmFwaA==', realm],
    ['wg_unknown', realm],
  ])('%j is 401 with the challenge %s', async (authorization, challenge) => {
    const answer = await app.request('GET', '/v1/teams', { token: null, headers: { authorization } });
    expectProblem(answer, 401, 'unauthenticated');
    expect(answer.headers.get('www-authenticate')).toBe(challenge);
  });

  it.each(endpoints)('%s %s needs the scope %s, and no other', async (method, path, scope, template) => {
    for (const scopes of [allScopes.filter((other) => other !== scope), []]) {
      const token = await app.tokenFor({ scopes });
      const refused = await app.request(method, path, { token, ...(method === 'GET' ? {} : broken) });
      expectProblem(refused, 403, 'forbidden');
      expect(refused.headers.get('www-authenticate')).toBe(
        `Bearer realm="workgraph", error="insufficient_scope", scope="${scope}"`,
      );
      expect((refused.body as { errors: unknown[] }).errors).toEqual([
        { field: `${method} ${template}`, message: `needs ${scope}` },
      ]);
    }
    const alone = await app.tokenFor({ scopes: allScopes.filter((own) => own === scope) });
    const admitted = await app.request(method, path, {
      token: alone,
      ...(method === 'GET' ? {} : { body: {} }),
    });
    expect([200, 400, 404]).toContain(admitted.status);
  });
});

describe('bodies', () => {
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    app.request('POST', '/v1/issues', { body, headers });
  const valid = { teamId: 'team_01h455vb4pex5vsknk084sn02q', title: 'x', description: '', priority: 0 };

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/json; charset=latin1',
    'application/merge-patch+json',
    '',
  ])('is 415 as %j', async (type) => {
    expectProblem(await post('{', { 'Content-Type': type }), 415, 'unsupported_media_type');
  });

  it('is answered 415 when it is compressed', async () => {
    expectProblem(await post('x', { 'content-encoding': 'gzip' }), 415, 'unsupported_media_type');
  });

  it.each(['identity', 'Identity', ''])('is read with the coding %j', async (coding) => {
    expectProblem(await post('{}', { 'content-encoding': coding }), 400, 'validation_failed');
  });

  it.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
  ])('is read as %j', async (type) => {
    expectProblem(await post('{}', { 'Content-Type': type }), 400, 'validation_failed');
  });

  it.each([
    ['{"title": "x",}', 'must be JSON; it is invalid at line 1, column 15'],
    ['{\n  "title" "x" }', 'must be JSON; it is invalid at line 2, column 11'],
    ['{"title": "x"} secret', 'must be JSON; it is invalid at line 1, column 16'],
    ['{"title": tru', 'must be JSON; it ends too early'],
    ['{"title": secret}', 'must be JSON'],
    [new Uint8Array([0x7b, 0xff, 0x7d]), 'must be in UTF-8'],
  ])('is told why it cannot be read, without its content: %j', async (body, message) => {
    const { body: answer } = await post(body);
    expect(answer).toMatchObject({ code: 'validation_failed', errors: [{ field: 'body', message }] });
    expect(JSON.stringify(answer)).not.toContain('secret');
  });

  it('is answered 413 over the limit, before its type is checked', async () => {
    expectProblem(
      await post('x'.repeat(1_100_000), { 'Content-Type': 'text/plain' }),
      413,
      'payload_too_large',
    );
  });

  it.each([
    ['nothing', ''],
    ['no JSON', '{"title": '],
    ['JSON with a comment', '{} // x'],
    ['null', 'null'],
    ['a list', '[]'],
    ['a text', '"x"'],
    ['a number', '1'],
    ['no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['UTF-16', Buffer.from('{}', 'utf16le')],
    ['33 levels', `{"x":${'['.repeat(32)}${']'.repeat(32)}}`],
    ['400,000 levels', `${'['.repeat(400_000)}${']'.repeat(400_000)}`],
  ])('is 400 when it is %s', async (_what, body) => {
    const answer = await post(body);
    expectProblem(answer, 400, 'validation_failed');
    expect(answer.body).toMatchObject({ errors: [{ field: 'body' }] });
  });

  it('may have 32 levels, and a byte order mark', async () => {
    const levels = `${'['.repeat(31)}${']'.repeat(31)}`;
    const body = `\ufeff${JSON.stringify(valid).slice(0, -1)},"unknown":${levels}}`;
    const answer = await post(body);
    expect(answer.body).toMatchObject({
      errors: [{ field: 'teamId', message: 'does not belong to this workspace' }],
    });
  });

  it('uses the last of two fields of one name, and no inherited properties', async () => {
    const twice = await post(`{"title":"", ${JSON.stringify({ ...valid, priority: 9 }).slice(1)}`);
    expect(twice.body).toMatchObject({ errors: [{ field: 'priority' }] });
    const inherited = await post(
      '{"__proto__": {"teamId": 1, "title": 2}, "constructor": {"description": 3}}',
    );
    const fields = ['teamId', 'title', 'description', 'priority'];
    expect(inherited.body).toMatchObject({
      errors: fields.map((field) => ({ field, message: 'is required' })),
    });
  });

  it('is ignored by routes that take none', async () => {
    const sent = { body: '{', headers: { 'Content-Type': 'text/plain' } };
    expect((await app.request('OPTIONS', '/v1/teams', sent)).status).toBe(204);
  });
});
