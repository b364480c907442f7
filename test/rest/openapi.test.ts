import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { printOpenApi } from '../../src/rest-compat/openapi.ts';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { startApp } from '../support/app.ts';
import { sharedApp, type SharedApp } from '../support/shared-app.ts';
import { sendRaw } from '../support/raw-http.ts';
import { type OpenApi, responseOf, schemaDifferences } from '../support/openapi.ts';

const document = JSON.parse(printOpenApi()) as OpenApi;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

it('the document is the committed file and the answer of GET /v1/openapi.json without a token', async () => {
  const committed = readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8');
  expect(printOpenApi()).toBe(committed);
});

it('the document describes every route once, with a unique id and its path parameters', () => {
  expect(operations.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
    routeTable.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { path, operation } of operations) {
    const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
    expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
    expect(inPath.every(({ required }) => required)).toBe(true);
  }
});

it('the document has no dangling references and no unused components', () => {
  const text = printOpenApi();
  const referred = new Set(
    Array.from(text.matchAll(/#\/components\/schemas\/(\w+)/g), ([, name = '']) => name),
  );
  expect([...referred].toSorted()).toEqual(Object.keys(document.components.schemas).toSorted());
});

it('the document has an example of every failure that matches its schema and status', () => {
  for (const { method, path, operation } of operations) {
    for (const status of Object.keys(operation.responses)) {
      const response = responseOf(document, path, method, Number(status));
      const problem = response?.content?.['application/problem+json'];
      if (!problem) continue;
      const examples = Object.entries(problem.examples ?? {});
      expect(examples).not.toHaveLength(0);
      for (const [, { value }] of examples) {
        expect(schemaDifferences(problem.schema, value)).toEqual([]);
        expect(value).toMatchObject({ status: Number(status) });
      }
    }
  }
});

it('the document allows null for the optional fields of a body and not for the required ones', () => {
  const { schemas } = document.components as {
    schemas: Record<string, { properties?: Record<string, object> }>;
  };
  const { body, followUpActions, turnNumber } = schemas['AgentMessageCreateBody']?.properties ?? {};
  expect(followUpActions).toMatchObject({ type: ['array', 'null'] });
  expect(turnNumber).toMatchObject({ type: ['integer', 'null'] });
  expect(body).toMatchObject({ type: 'string' });
});

it('the document describes for every operation how requests that are too large or too slow are answered', () => {
  for (const { method, path, operation } of operations) {
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['400', '408', '431']));
    const codes = [408, 431].map((status) =>
      Object.keys(
        responseOf(document, path, method, status)?.content?.['application/problem+json']?.examples ?? {},
      ),
    );
    expect(codes).toEqual([['request_timeout'], ['headers_too_large']]);
  }
});

it('the document gives the scope of each route as its security', () => {
  for (const { method, path, operation } of operations) {
    const route = routeTable.find((candidate) => candidate.method === method && candidate.path === path);
    const expected = route?.scope === 'public' ? [] : [{ token: [route?.scope] }];
    expect(operation.security).toEqual(expected);
  }
});

describe('GET /v1/openapi.json', () => {
  let app: SharedApp;
  beforeAll(async () => {
    app = await sharedApp();
  });
  afterAll(() => app.stop());

  it('is public, and accepts GET, HEAD and OPTIONS', async () => {
    const answer = await app.request('GET', '/v1/openapi.json', { token: null });
    const [server] = document.servers;
    expect(answer).toMatchObject({
      status: 200,
      body: { ...document, servers: [{ ...server, url: app.url }] },
    });
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await app.request('HEAD', '/v1/openapi.json', { token: null })).toMatchObject({
      status: 200,
      body: '',
    });
    const refused = await app.request('POST', '/v1/openapi.json', { body: {} });
    expect(refused.status).toBe(405);
    expect(refused.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  it('has the version of the package, and names no server if it was printed without one', () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
      version: string;
    };
    expect(document.info.version).toBe(version);
    expect(document.servers.map(({ url }) => url)).toEqual(['/']);
  });

  it('names the address that the client used as its server, with a different tag for each', async () => {
    const port = new URL(app.url).port;
    const request = (headers: Record<string, string>) => {
      const lines = Object.entries({ Host: 'x', Connection: 'close', ...headers });
      const fields = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      return sendRaw(app.url, `GET /v1/openapi.json HTTP/1.1\r\n${fields}\r\n`);
    };
    const direct = await request({});
    const named = await request({ Host: `localhost:${port}` });
    const forged = await request({ Host: 'evil.example.com', 'X-Forwarded-Host': 'evil.example.com' });
    const serverOf = (text: string) => (JSON.parse(text) as OpenApi).servers[0]?.url;
    expect(serverOf(direct.body)).toBe(app.url);
    expect(serverOf(named.body)).toBe(`http://localhost:${port}`);
    expect(forged.body).toBe(direct.body);
    const tag = direct.headers.get('etag') ?? '';
    expect(named.headers.get('etag')).not.toBe(tag);
    expect(forged.headers.get('etag')).toBe(tag);
    expect((await request({ 'If-None-Match': tag })).status).toBe(304);
    expect((await request({ Host: `localhost:${port}`, 'If-None-Match': tag })).status).toBe(200);
  });

  it('names PUBLIC_URL as its server if it is set', async () => {
    const proxied = await startApp({
      sharesDatabase: true,
      settings: { PUBLIC_URL: 'https://work.example.com/' },
    });
    const { body } = await proxied.request<OpenApi>('GET', '/v1/openapi.json', { token: null });
    await proxied.stop();
    expect(body.servers.map(({ url }) => url)).toEqual(['https://work.example.com']);
  });
});
