import { defineCommand } from 'citty';
import { printOpenApi } from '../rest-compat/openapi.ts';

export const command = defineCommand({
  meta: { name: 'openapi' },
  run: () => void process.stdout.write(printOpenApi()),
});
