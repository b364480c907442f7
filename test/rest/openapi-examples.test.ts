import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type ExampleAnswer, checkExample } from '../../src/rest-compat/openapi/example.ts';
import { printOpenApi } from '../../src/rest-compat/openapi.ts';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { documentedExamples } from '../examples/documented.ts';
import { answerTo } from '../examples/record.ts';
import { Normalizer } from '../examples/normalizer.ts';
import { startExampleWorld } from '../examples/world.ts';
import type { App } from '../support/app.ts';
import { type OpenApi, schemaDifferences } from '../support/openapi.ts';

const document = JSON.parse(printOpenApi()) as OpenApi;
const examples = documentedExamples(document);

let world: App | undefined;
afterEach(async () => {
  await world?.stop();
  world = undefined;
});

it('the document has an example request of every operation, and an answer for every successful status', () => {
  expect(examples.map(({ name }) => name).toSorted()).toEqual(
    routeTable.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
  for (const { name, operation, answers } of examples) {
    const statuses = Object.keys(operation.responses).filter((status) => /^2..$|^302$/.test(status));
    expect([name, answers.map(({ status }) => `${status}`).toSorted()]).toEqual([name, statuses.toSorted()]);
    for (const { status, body } of answers) {
      const [content] = Object.values(operation.responses[`${status}`]?.content ?? {});
      expect([name, body !== undefined]).toEqual([name, content !== undefined]);
      expect([name, content ? schemaDifferences(content.schema, body) : []]).toEqual([name, []]);
    }
    for (const [type, { schema, example }] of Object.entries(operation.requestBody?.content ?? {}))
      expect([name, type, schemaDifferences(schema, example)]).toEqual([name, 'application/json', []]);
    for (const { name: parameter, in: location, schema, example } of operation.parameters ?? [])
      if (location === 'path' || example !== undefined)
        expect([name, parameter, schemaDifferences(schema, example)]).toEqual([name, parameter, []]);
  }
});

describe('the server with the workspace of the examples', () => {
  it('answers every documented request as the document shows, over REST', async () => {
    world = await startExampleWorld();
    const settled = new Normalizer();
    for (const { name, request, answers } of examples)
      for (const documented of answers)
        expect([name, await answerTo(world, name, request, settled)]).toEqual([name, documented]);
  });

  it('answers every documented operation with the same values, over /graphql', async () => {
    world = await startExampleWorld();
    const settled = new Normalizer();
    for (const { name, operation, request, answers } of examples) {
      const route = routeTable.find(({ method, path }) => `${method} ${path}` === name);
      if (!route) throw new Error(`${name} is not a route.`);
      for (const documented of answers) {
        const { status, body } = await world.graphql(
          operation['x-graphql-document'],
          operation['x-graphql-variables'],
        );
        expect([name, status, body.errors]).toEqual([name, 200, undefined]);
        const judged = checkExample(route, request);
        const outcome = judged.verdict === 'ready' && judged.answer(body.data);
        if (!outcome || outcome.verdict !== 'rendered') throw new Error(`${name} gave nothing.`);
        const { status: rendered, body: value, location } = outcome.rendered;
        expect([name, settled.of({ status: rendered, ...(value !== undefined && { body: value }) })]).toEqual(
          [name, withoutHeaders(documented)],
        );
        if (location !== undefined) expect(settled.of(location)).toBe(documented.headers['Location']);
        expect([name, strangers(documented.body, settled.of(body.data))]).toEqual([name, []]);
      }
    }
  });

  it('answers the curl lines of docs/rest-endpoints.md as the document shows', async () => {
    world = await startExampleWorld();
    const settled = new Normalizer();
    const page = readFileSync(join(import.meta.dirname, '../../docs/rest-endpoints.md'), 'utf8');
    const lines = Array.from(page.matchAll(/^### (.+)$(?:(?!^### )[^])*?^```sh\n([^]*?)\n# (.*)\n```$/gm));
    expect(lines).toHaveLength(routeTable.length);
    const byName = new Map(lines.map(([, name = '', command = '', told]) => [name, { command, told }]));
    for (const { name, answers } of examples) {
      const { command = '', told } = byName.get(name) ?? {};
      expect([name, told]).toEqual([name, answers.map(({ status }) => status).join(', then ')]);
      for (const { status, body } of answers)
        expect([name, settled.of(await curl(command, world))]).toEqual([name, { status, body }]);
    }
  });
});

const run = promisify(execFile);

/** Runs a command of the page unchanged, and makes curl print the status as well. */
async function curl(command: string, { url, token }: App): Promise<{ status: number; body: unknown }> {
  const shell = command.replace('curl -s', `curl -s -w '\\n%{http_code}'`);
  const { stdout } = await run('sh', ['-ec', shell], { env: { ...process.env, URL: url, TOKEN: token } });
  const [, text = '', status] = /^([^]*)\n(\d{3})$/.exec(stdout) ?? [];
  return { status: Number(status), body: text === '' ? undefined : (JSON.parse(text) as unknown) };
}

function withoutHeaders({ status, body }: ExampleAnswer): Omit<ExampleAnswer, 'headers'> {
  return { status, ...(body !== undefined && { body }) };
}

/** The texts of an answer of REST that do not occur in the answer of GraphQL. There must be none, because REST only converts them. */
function strangers(answer: unknown, data: unknown): string[] {
  const known = new Set(textsOf(data).map((text) => text.toLowerCase()));
  // The path of an issue's page is built from its key.
  const withoutPath = (text: string) => text.toLowerCase().replace(/^\/issues\//, '');
  return textsOf(answer).filter((text) => text !== '' && !known.has(withoutPath(text)));
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
