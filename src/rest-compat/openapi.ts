import { openApiDocument } from './openapi/document.ts';
import { endpointsPage } from './openapi/endpoints-page.ts';
import { additions, specified, table } from './table.ts';

let printed: string | undefined;

/** The OpenAPI 3.1 description of the REST face: the file `openapi.json`, and what GET /v1/openapi.json answers. */
export function printOpenApi(): string {
  printed ??= `${JSON.stringify(openApiDocument(table, additions), null, 2)}\n`;
  return printed;
}

/** The page docs/rest-endpoints.md. */
export function printEndpointsPage(): string {
  return `${endpointsPage(specified, additions)}\n`;
}
