import { readFileSync } from 'node:fs';
import { openApiDocument } from './openapi/document.ts';
import { endpointsPage } from './openapi/endpoints-page.ts';
import type { Examples } from './openapi/example.ts';
import { additions, specified, table } from './table.ts';

let printed: string | undefined;

/** The OpenAPI 3.1 description of the REST face: the file `openapi.json`, and what GET /v1/openapi.json answers. */
export function printOpenApi(): string {
  printed ??= `${JSON.stringify(openApiDocument(table, additions, readExamples()), null, 2)}\n`;
  return printed;
}

/** The page docs/rest-endpoints.md. */
export function printEndpointsPage(): string {
  return `${endpointsPage(specified, additions, readExamples())}\n`;
}

/** Recorded by `npm run generate`. Only who asks for the document needs them, so that no start reads them. */
function readExamples(): Examples {
  const file = new URL('openapi/examples.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as Examples;
}
