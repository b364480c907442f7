import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { maxHeadBytes, maxHeaderBytes } from '../../src/executor/limits.ts';
import type { JsonSchema } from '../../src/rest-compat/json-schema.ts';
import { printOpenApi } from '../../src/rest-compat/openapi.ts';
import type { Route } from '../../src/rest-compat/route.ts';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { type DocumentedExample, documentedExamples } from '../examples/documented.ts';
import { startExampleWorld } from '../examples/world.ts';
import { Client, type Wire } from '../inputs/client.ts';
import { percentEncoded } from '../inputs/rest-cases.ts';
import type { App } from '../support/app.ts';
import { type OpenApi, type RawAnswer, responseDifferences } from '../support/openapi.ts';
import { sampled } from '../support/samples.ts';
import { maxText, textsAround, validatorOf, valuesAround } from './boundaries.ts';

const document = JSON.parse(printOpenApi()) as OpenApi;
const isAllowed = validatorOf(document);
const operations = documentedExamples(document).map((example) => [example.name, example] as const);
/** CI and `CASES=all` try all operations; other runs try one in every few of each method. */
const oneOf = 3;
const methodOf = ([name]: readonly [name: string, ...unknown[]]): string => name.split(' ', 1)[0] ?? '';
const tried = sampled(operations, oneOf, methodOf);

let world: App;
let client: Client;
beforeAll(async () => {
  world = await startExampleWorld({ ATTACHMENT_LIMIT_BYTES: '2147483647', CHANGES_WAIT_MS: '10' });
  client = new Client(world.url, world.token);
});
afterAll(async () => {
  client.close();
  await world.stop();
});

/** A request of an operation before it is encoded. */
interface Request {
  path: Record<string, string>;
  query: [name: string, value: string][];
  headers: Record<string, string>;
  body?: unknown;
}

function exampleRequest({ operation, request }: DocumentedExample): Request {
  const encoded: Request = { path: {}, query: [], headers: {} };
  for (const { name, in: location } of operation.parameters ?? []) {
    const value = request.parameters[name];
    if (value === undefined) continue;
    if (location === 'path') encoded.path[name] = String(value);
    else for (const each of [value].flat()) encoded.query.push([name, each]);
  }
  return request.body === undefined ? encoded : { ...encoded, body: request.body };
}

function wireOf({ method, path }: Route, request: Request): Wire {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => percentEncoded(request.path[name] ?? ''));
  const query = request.query.map(([name, value]) => `${percentEncoded(name)}=${percentEncoded(value)}`);
  return {
    method,
    target: query.length > 0 ? `${filled}?${query.join('&')}` : filled,
    headers: request.headers,
    ...(request.body !== undefined && { body: Buffer.from(JSON.stringify(request.body)) }),
  };
}

function routeOf(name: string): Route {
  const route = routeTable.find(({ method, path }) => `${method} ${path}` === name);
  if (!route) throw new Error(`${name} is not a route.`);
  return route;
}

/** Whether the request itself was refused as invalid, whatever the workspace contains. */
function isRefused({ status }: RawAnswer): boolean {
  return status === 400 || status === 413 || status === 431;
}

/** Sends a request, and returns the differences between the server and the document. */
async function differences(
  route: Route,
  request: Request,
  isInside: boolean,
  what: string,
): Promise<string[]> {
  const wire = wireOf(route, request);
  const answer = await client.send(wire);
  const outcome = `${what.slice(0, 80)} is ${answer.status}: ${answer.text.slice(0, 300)}`;
  const path = wire.target.split('?')[0] ?? '';
  return [
    ...responseDifferences(route.method, path, answer),
    ...(isRefused(answer) === isInside ? [`${isInside ? 'allowed' : 'not allowed'}, but ${outcome}`] : []),
  ];
}

describe('the server accepts what the document permits, and refuses what is just beyond', () => {
  it.each(tried)('in the parameters of %s', async (name, example) => {
    const route = routeOf(name);
    const found: string[] = [];
    for (const parameter of example.operation.parameters ?? []) {
      const schema = parameter.schema as JsonSchema;
      const declared = route.parameters[parameter.name];
      if (parameter.in === 'path' || !declared) continue;
      const item = schema.items ?? schema;
      for (const text of textsAround(item)) {
        const isHeader = parameter.in === 'header';
        if (isHeader && /[^\t\x20-\x7e]/.test(text)) continue;
        // A client trims the value of a header.
        const sent = isHeader ? text.trim() : text;
        const isInside = isAllowed(item, valueOf(item, sent));
        // A valid name may still be that of an unknown object.
        if (isInside && ('names' in wordOf(declared) || periodParameters.has(parameter.name)) && sent !== '')
          continue;
        const request = exampleRequest(example);
        if (isHeader) request.headers[parameter.name] = sent;
        else
          request.query = [
            ...request.query.filter(([key]) => key !== parameter.name),
            [parameter.name, sent],
          ];
        found.push(
          ...(await differences(route, request, isInside, `${parameter.name}=${JSON.stringify(sent)}`)),
        );
      }
    }
    expect(found).toEqual([]);
  });

  it.each(tried)('in the path of %s', async (name, example) => {
    const route = routeOf(name);
    const found: string[] = [];
    for (const parameter of (example.operation.parameters ?? []).filter((each) => each.in === 'path')) {
      for (const text of textsAround(parameter.schema)) {
        if (text === '' || isAllowed(parameter.schema, text)) continue;
        const request = exampleRequest(example);
        request.path[parameter.name] = text;
        const { status } = await client.send(wireOf(route, request));
        if (status !== 404) found.push(`${parameter.name}=${JSON.stringify(text)} is ${status}`);
      }
    }
    expect(found).toEqual([]);
  });

  const withBodies = operations.filter(([, { operation }]) => operation.requestBody);
  it.each(sampled(withBodies, oneOf, methodOf))('in the body of %s', async (name, example) => {
    const route = routeOf(name);
    const whole = example.operation.requestBody?.content['application/json']?.schema ?? {};
    const { properties = {}, required = [] } = resolved(whole);
    const exampleBody = exampleRequest(example).body as Record<string, unknown>;
    const bodies = Object.entries(properties).flatMap(([field, schema]) =>
      valuesAround(resolved(schema), exampleBody[field]).flatMap((value) => {
        const others = Object.entries(exampleBody).filter(
          ([other]) => required.includes(other) && other !== field,
        );
        const declared = route.body?.fields[field];
        const names =
          declared && 'value' in declared
            ? declared.value.names
            : declared && 'names' in declared && declared.names;
        // The valid turn numbers depend on the thread, as valid names depend on the workspace; a schema cannot express that.
        const isStored = names || field === 'turnNumber';
        const isOpen = isStored && value !== null && value !== exampleBody[field];
        return [{ body: { ...Object.fromEntries(others), [field]: value }, isOpen }];
      }),
    );
    const incomplete = required.map((field) => ({
      body: Object.fromEntries(Object.entries(exampleBody).filter(([other]) => other !== field)),
      isOpen: false,
    }));
    const found: string[] = [];
    for (const { body, isOpen } of [...bodies, ...incomplete, ...changesAround(properties)]) {
      const isInside = isAllowed(whole, body);
      if (isInside && isOpen) continue;
      const request = { ...exampleRequest(example), body };
      found.push(...(await differences(route, request, isInside, JSON.stringify(body))));
    }
    expect(found).toEqual([]);
  });
});

/** Bodies with contradictions about one field, or without any field. */
function changesAround(
  properties: Readonly<Record<string, JsonSchema>>,
): { body: object; isOpen: boolean }[] {
  const flags = Object.keys(properties).filter((name) => name.startsWith('clear'));
  const pairs = flags.flatMap((flag) =>
    Object.keys(properties)
      .filter((name) => name.toLowerCase().startsWith(flag.slice('clear'.length).toLowerCase()))
      .flatMap((target) => [
        { body: { [flag]: true, [target]: null }, isOpen: false },
        { body: { [flag]: true, [target]: target === 'estimateValue' ? 1 : 'x' }, isOpen: false },
      ]),
  );
  const nothing = Object.fromEntries(flags.map((flag) => [flag, false]));
  return [...pairs, { body: {}, isOpen: false }, { body: { ...nothing, unknown: 1 }, isOpen: false }];
}

/** Follows the reference of a schema. */
function resolved(schema: JsonSchema & { $ref?: string }): JsonSchema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (document.components.schemas[name] as JsonSchema);
}

describe('the head of a request', () => {
  it.each(tried)('may contain everything that the document permits for %s at once', async (name, example) => {
    const route = routeOf(name);
    const request: Request = { path: {}, query: [], headers: {} };
    for (const { name: parameter, in: location, schema } of example.operation.parameters ?? []) {
      const { items = schema, maxItems = 1 } = schema as JsonSchema;
      const text = location === 'header' ? 'x' : maxText(items, (value) => isAllowed(items, value));
      if (location === 'path') request.path[parameter] = text;
      else if (location === 'header')
        request.headers[parameter] = '"'.padEnd((schema as JsonSchema).maxLength ?? 0, '"');
      else for (let times = 0; times < maxItems; times += 1) request.query.push([parameter, text]);
    }
    const wire = wireOf(route, request);
    const bytes = wire.target.length + JSON.stringify(wire.headers).length;
    expect(bytes).toBeLessThan(maxHeadBytes - 4_096);
    const answer = await client.send(wire);
    expect([name, answer.status]).not.toEqual([name, 431]);
    expect(responseDifferences(route.method, wire.target.split('?')[0] ?? '', answer)).toEqual([]);
  });

  it.each(tried)('is refused as the document says when it is larger: %s', async (name, example) => {
    const route = routeOf(name);
    const request = exampleRequest(example);
    const large = [
      { ...request, query: [['q', 'x'.repeat(maxHeadBytes)]] as [string, string][] },
      { ...request, headers: { 'X-Large': 'x'.repeat(maxHeadBytes) } },
      { ...request, headers: { 'X-Large': 'x'.repeat(maxHeaderBytes) } },
    ];
    for (const each of large) {
      const wire = wireOf(route, each);
      const answer = await client.send(wire);
      expect([name, answer.status]).toEqual([name, 431]);
      expect(responseDifferences(route.method, wire.target.split('?')[0] ?? '', answer)).toEqual([]);
    }
  });
});

/** These parameters determine the periods together, and depend on the known time zones. */
const periodParameters: ReadonlySet<string> = new Set(['from', 'to', 'time_zone']);

/** The declaration of a parameter's value. */
function wordOf(declared: Route['parameters'][string]): object {
  return 'value' in declared ? declared.value : declared;
}

/** Converts the text of a query parameter to the JSON type of its schema. */
function valueOf({ type }: JsonSchema, text: string): unknown {
  if (type === 'integer') return /^(?:0|-?[1-9]\d*)$/.test(text) ? Number(text) : text;
  return type === 'boolean' && (text === 'true' || text === 'false') ? text === 'true' : text;
}
