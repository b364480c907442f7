import { readFile } from 'node:fs/promises';
import { defineCommand } from 'citty';
import { Kind, Source } from 'graphql';
import { CommandError, locatedMessagesOf, refuseWrongArguments, reportFailure } from './failures.ts';

const args = {
  files: { type: 'positional', description: 'Files that contain one document each', required: true },
} as const;

export const command = defineCommand({
  meta: {
    name: 'manifest',
  },
  args,
  async run(context) {
    process.exitCode = await reportFailure(async () => {
      const { _: files, ...flags } = context.args;
      refuseWrongArguments(flags, args);
      return manifest(files);
    });
  },
});

/**
 * Validates all documents against the schema of this version, and prints the manifest only if all are valid. Files of
 * fragments alone are left out.
 */
async function manifest(files: readonly string[]): Promise<number> {
  const [{ schema }, { DocumentReader, parseText }, { printManifest }] = await Promise.all([
    import('../schema/index.ts'),
    import('../executor/documents/reader.ts'),
    import('../executor/documents/manifest.ts'),
  ]);
  const reader = new DocumentReader(schema);
  const texts: string[] = [];
  const problems: string[] = [];
  for (const file of files) {
    try {
      const text = await readFile(file, 'utf8');
      const { definitions } = parseText(new Source(text));
      // The documents of a client have such a part for each fragment, besides the operations that contain it.
      if (definitions.every(({ kind }) => kind === Kind.FRAGMENT_DEFINITION)) {
        process.stderr.write(`${file} is left out: it has no operation, so no request can name it.\n`);
        continue;
      }
      reader.read(text);
      texts.push(text);
    } catch (error) {
      problems.push(...locatedMessagesOf(error, file));
    }
  }
  if (problems.length > 0) throw new CommandError(problems.join('\n'));
  process.stdout.write(printManifest(texts));
  return 0;
}
