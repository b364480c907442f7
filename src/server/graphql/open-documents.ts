import { readFile } from 'node:fs/promises';
import { ManifestError, parseManifest } from '../../executor/documents/manifest.ts';
import type { TrustedDocuments } from '../../executor/documents/persisted.ts';
import { type Config, ConfigError } from '../config.ts';

/** Reads the manifest that is configured, if any. Throws ConfigError. */
export async function openDocuments({
  documents,
  documentsFile,
}: Pick<Config, 'documents' | 'documentsFile'>): Promise<TrustedDocuments | undefined> {
  if (documentsFile === undefined) return undefined;
  try {
    const manifest = parseManifest(await readFile(documentsFile, 'utf8'));
    return { manifest, refusesOthers: documents === 'trusted' };
  } catch (error) {
    throw new ConfigError(problemsOf(error).map((problem) => `DOCUMENTS_FILE: ${documentsFile} ${problem}`));
  }
}

function problemsOf(error: unknown): readonly string[] {
  if (error instanceof ManifestError) return error.problems;
  const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
  return [isMissing ? 'does not exist' : `cannot be read: ${String(error)}`];
}
