import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineCommand } from 'citty';

export const command = defineCommand({
  meta: { name: 'schema', description: 'Print the GraphQL schema, with the scopes that fields need' },
  // The committed file is what the code declares: a test compares them.
  run: async () =>
    void process.stdout.write(await readFile(join(import.meta.dirname, '../../schema.graphql'), 'utf8')),
});
