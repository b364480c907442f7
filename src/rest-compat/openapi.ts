import { readFileSync } from 'node:fs';
import { collectionOf } from './openapi/collection.ts';
import { anyServer, openApiDocument } from './openapi/document.ts';
import { endpointsPage } from './openapi/endpoints-page.ts';
import type { Examples } from './openapi/example.ts';
import { additions, routeTable, specified } from './route-table.ts';

let printed: readonly [before: string, after: string] | undefined;

/**
 * The OpenAPI 3.1 description of the REST layer, for the file `openapi.json` and for GET /v1/openapi.json. `server` is
 * the URL at which the client reaches the service.
 */
export function printOpenApi(server = anyServer): string {
  printed ??= aroundServer(
    `${JSON.stringify(openApiDocument(routeTable, additions, readExamples()), null, 2)}\n`,
  );
  return printed.join(serverLine(server));
}

/** The text before and after the URL of the server. Printing the whole description for each request would be slow. */
function aroundServer(text: string): readonly [string, string] {
  const [before, after, another] = text.split(serverLine(anyServer));
  if (before === undefined || after === undefined || another !== undefined)
    throw new Error('The OpenAPI document does not have exactly one server.');
  return [before, after];
}

function serverLine(server: string): string {
  return `"url": ${JSON.stringify(server)},`;
}

/** The page docs/rest-endpoints.md. */
export function printEndpointsPage(): string {
  return `${endpointsPage(specified, additions, readExamples())}\n`;
}

/** The file docs/collection.json. */
export function printCollection(): string {
  return `${JSON.stringify(collectionOf(openApiDocument(routeTable, additions, readExamples())), null, 2)}\n`;
}

/** Recorded by `npm run generate`. Read when the description is first requested, and not at startup. */
function readExamples(): Examples {
  const file = new URL('openapi/examples.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as Examples;
}
