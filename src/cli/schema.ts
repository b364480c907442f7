import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineCommand } from 'citty';

export const command = defineCommand({
  meta: { name: 'schema' },
  // The committed file is used because a test keeps it equal to the code.
  run: async () =>
    void process.stdout.write(await readFile(join(import.meta.dirname, '../../schema.graphql'), 'utf8')),
});
