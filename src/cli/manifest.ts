import { readFile } from 'node:fs/promises';
import { defineCommand } from 'citty';
import { CommandError, placedMessagesOf, refuseWrongArguments, reportFailure } from './failures.ts';

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

/** Validates all documents against the schema of this version, and prints the manifest only if all are valid. */
async function manifest(files: readonly string[]): Promise<number> {
  const [{ schema }, { DocumentReader }, { printManifest }] = await Promise.all([
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
      reader.read(text);
      texts.push(text);
    } catch (error) {
      problems.push(...placedMessagesOf(error, file));
    }
  }
  if (problems.length > 0) throw new CommandError(problems.join('\n'));
  process.stdout.write(printManifest(texts));
  return 0;
}
