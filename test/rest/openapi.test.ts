import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { printOpenApi } from '../../src/rest-compat/openapi.ts';
import { table } from '../../src/rest-compat/table.ts';
import { type App, startApp } from '../support/app.ts';
import { type OpenApi, schemaDifferences } from '../support/openapi.ts';
import type { ListBody } from './walk.ts';

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

describe('answers of the demo', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ demo: true });
  }, 120_000);
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

  it.each(operations.filter(({ method }) => method === 'GET').map(({ path }) => path))(
    'GET %s answers what the document says',
    async (template) => {
      const path = await fillIn(template);
      const answer = await app.request('GET', path);
      // Whether it is as documented is looked at with every answer; here it must be a good one.
      expect([path, answer.status < 400]).toEqual([path, true]);
    },
    60_000,
  );

  const codes: Readonly<Record<string, string>> = { code: 'not_found' };

  /** The path with things of the demo in the place of its braces. */
  async function fillIn(template: string): Promise<string> {
    let path = template;
    for (const brace of template.match(/\{\w+\}/g) ?? []) {
      const name = brace.slice(1, -1);
      const list = path.slice(0, path.indexOf(brace) - 1);
      path = path.replace(brace, codes[name] ?? (await someName(template, list, name)));
    }
    return path;
  }

  async function someName(template: string, list: string, name: string): Promise<string> {
    if (name === 'issueKey') return issueWith(template);
    const { body } = await app.request<ListBody>('GET', list);
    const field = { teamCode: 'code', projectKey: 'key' }[name] ?? 'id';
    const fits = (row: Record<string, unknown>) =>
      !template.endsWith('/preview') || row['isPreviewAvailable'];
    return String(body.results.find(fits)?.[field]);
  }

  /** An issue that has what the path leads to. */
  async function issueWith(template: string): Promise<string> {
    const { body } = await app.graphql<{ issues: { nodes: Candidate[] } }>(
      `{ issues(first: 250) { nodes { key commentCount linkCount subIssueCount agentThread { id } attachments { nodes { isPreviewAvailable } } } } }`,
    );
    const has: Readonly<Record<string, (issue: Candidate) => boolean>> = {
      comments: ({ commentCount }) => commentCount > 1,
      links: ({ linkCount }) => linkCount > 0,
      subissues: ({ subIssueCount }) => subIssueCount > 1,
      attachments: ({ attachments }) =>
        attachments.nodes.some(({ isPreviewAvailable }) => isPreviewAvailable),
      'agent-thread': ({ agentThread }) => agentThread !== null,
    };
    const [, , , , child = ''] = template.split('/');
    return body.data?.issues.nodes.find(has[child] ?? (() => true))?.key ?? '';
  }

  interface Candidate {
    key: string;
    commentCount: number;
    linkCount: number;
    subIssueCount: number;
    agentThread: { id: string } | null;
    attachments: { nodes: { isPreviewAvailable: boolean }[] };
  }
});
