import { openApiDocument } from './openapi/document.ts';
import { additions, table } from './table.ts';

let printed: string | undefined;

/** The OpenAPI 3.1 description of the REST face: the file `openapi.json`, and what GET /v1/openapi.json answers. */
export function printOpenApi(): string {
  printed ??= `${JSON.stringify(openApiDocument(table, additions), null, 2)}\n`;
  return printed;
}
