import { defineCommand } from 'citty';
import { printOpenApi } from '../rest-compat/openapi.ts';

export const command = defineCommand({
  meta: { name: 'openapi', description: 'Print the OpenAPI 3.1 description of the REST endpoints' },
  run: () => void process.stdout.write(printOpenApi()),
});
