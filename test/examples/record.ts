import {
  type Example,
  type ExampleAnswer,
  type ExampleRequest,
  type Examples,
  targetOf,
} from '../../src/rest-compat/openapi/example.ts';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import type { App } from '../support/app.ts';
import { exampleRequests, type Lookup, sentTwice } from './requests.ts';
import { Normalizer } from './normalizer.ts';
import { startExampleWorld } from './world.ts';

/** Prints the file of the examples in openapi.json, whose answers are those of a running server. */
export async function printExamples(): Promise<string> {
  const world = await startExampleWorld();
  try {
    return `${JSON.stringify(await recordExamples(world), null, 2)}\n`;
  } finally {
    await world.stop();
  }
}

async function recordExamples(world: App): Promise<Examples> {
  const settled = new Normalizer();
  const examples: Record<string, Example> = {};
  for (const [name, declared] of Object.entries(exampleRequests)) {
    const request = inOrder(
      name,
      typeof declared === 'function' ? await declared(lookupOf(world)) : declared,
    );
    const answers: ExampleAnswer[] = [];
    for (let times = sentTwice.has(name) ? 2 : 1; times > 0; times -= 1)
      answers.push(await answerTo(world, name, request, settled));
    examples[name] = { request, answers };
  }
  return examples;
}

/** Puts the parameters in the order of the document, because a `Link` header repeats them as they were sent. */
function inOrder(name: string, { parameters, ...rest }: ExampleRequest): ExampleRequest {
  const route = routeTable.find(({ method, path }) => `${method} ${path}` === name);
  const names = Object.keys(route?.parameters ?? {});
  const sorted = Object.entries(parameters).toSorted(([a], [b]) => names.indexOf(a) - names.indexOf(b));
  return { parameters: Object.fromEntries(sorted), ...rest };
}

/** Sends the request of a route and returns the normalized answer. */
export async function answerTo(
  world: App,
  name: string,
  request: ExampleRequest,
  settled: Normalizer,
): Promise<ExampleAnswer> {
  const [method = '', template = ''] = name.split(' ');
  const { path, query } = targetOf(template, request);
  const target = `${path}${query.size > 0 ? `?${query}` : ''}`;
  const { body: sent } = request;
  const { status, headers, body } = await world.request(method, target, { body: sent });
  if (status >= 400) throw new Error(`The example ${name} is refused: ${JSON.stringify(body)}`);
  const own = ['Location', 'Link'].flatMap((header) => {
    const value = headers.get(header);
    return value === null ? [] : [[header, value] as const];
  });
  return settled.of({ status, headers: Object.fromEntries(own), ...(body !== '' && { body }) });
}

function lookupOf(world: App): Lookup {
  const read = async <Body>(path: string) => {
    const { status, body } = await world.request<Body>('GET', path);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  return {
    one: read,
    first: async (list) => {
      const { results } = await read<{ results: Record<string, string>[] }>(list);
      if (!results[0]) throw new Error(`The workspace of the examples has nothing at ${list}.`);
      return results[0];
    },
  };
}
