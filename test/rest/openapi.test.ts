import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { printOpenApi } from '../../src/rest-compat/openapi.ts';
import { table } from '../../src/rest-compat/table.ts';
import { type App, startApp } from '../support/app.ts';
import { type OpenApi, schemaDifferences } from '../support/openapi.ts';

const document = JSON.parse(printOpenApi()) as OpenApi;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

it('is the committed file, and what GET /v1/openapi.json answers without a token', async () => {
  const committed = readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8');
  expect(printOpenApi()).toBe(committed);
});

it('describes every route once, with an id of its own, and its path’s parameters', () => {
  expect(operations.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
    table.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { path, operation } of operations) {
    const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
    expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
    expect(inPath.every(({ required }) => required)).toBe(true);
  }
});

it('refers to nothing that is not there, and names nothing that is not used', () => {
  const text = printOpenApi();
  const referred = new Set(
    Array.from(text.matchAll(/#\/components\/schemas\/(\w+)/g), ([, name = '']) => name),
  );
  expect([...referred].toSorted()).toEqual(Object.keys(document.components.schemas).toSorted());
});

it('gives an example of every failure that has the form of its schema and its status', () => {
  for (const { operation } of operations) {
    for (const [status, response] of Object.entries(operation.responses)) {
      const problem = response.content?.['application/problem+json'];
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

it('names the scope of each route as its security', () => {
  for (const { method, path, operation } of operations) {
    const route = table.find((candidate) => candidate.method === method && candidate.path === path);
    const wanted = route?.scope === 'public' ? [] : [{ token: [route?.scope] }];
    expect(operation.security).toEqual(wanted);
  }
});

describe('GET /v1/openapi.json', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());

  it('is public, and takes GET, HEAD and OPTIONS', async () => {
    const answer = await app.request('GET', '/v1/openapi.json', { token: null });
    expect(answer).toMatchObject({ status: 200, body: document });
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await app.request('HEAD', '/v1/openapi.json', { token: null })).toMatchObject({
      status: 200,
      body: '',
    });
    const refused = await app.request('POST', '/v1/openapi.json', { body: {} });
    expect(refused.status).toBe(405);
    expect(refused.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });
});
