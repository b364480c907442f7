import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { tryParseJson } from '../../model/json.ts';
import { pluralize } from '../pluralize.ts';
import { CommandError } from '../failures.ts';

/** The version of the format that this program writes and reads. */
export const backupVersion = 1;

const writtenFile = z.object({ bytes: z.int(), sha256: z.string() });

const manifest = z.object({
  format: z.literal('workgraph-backup'),
  version: z.int(),
  createdUtc: z.string(),
  /** The migrations of the database. A backup can only be restored into a database with the same migrations. */
  migrations: z.array(z.string()).min(1),
  /** One file for each table, with a line of JSON for each row, in the order of the primary key. */
  tables: z.array(writtenFile.extend({ name: z.string(), rows: z.int() })),
  /** The list of attached files. The files themselves are in the directory `files`, by their keys in the store. */
  files: writtenFile.extend({ count: z.int(), missing: z.int() }),
  /** How many webhooks were left out. Backups of earlier versions do not say. */
  webhooks: z.int().optional(),
});
export type Manifest = z.infer<typeof manifest>;
export type BackedUpTable = Manifest['tables'][number];

/**
 * The pattern of the keys that `contentKey` makes. Other keys are refused because they could be paths to files outside of the store.
 */
const storeKey = /^[0-9a-f-]{36}\/[0-9a-f]{2}\/[0-9a-f-]{36}\.\d+$/;

const listedFile = z.object({
  key: z.string().regex(storeKey),
  bytes: z.int(),
  sha256: z.string().optional(),
});
/** An attached file. A file without a checksum was missing in the store. */
export type ListedFile = z.infer<typeof listedFile>;

export const manifestPath = (directory: string) => join(directory, 'manifest.json');
export const tablePath = (directory: string, name: string) => join(directory, 'tables', `${name}.ndjson`);
export const fileListPath = (directory: string) => join(directory, 'files.ndjson');
export const filePath = (directory: string, key: string) => join(directory, 'files', key);

/** Reads the manifest of a backup; throws a `CommandError` if the directory is not a backup. */
export async function readManifest(directory: string): Promise<Manifest> {
  const text = await readFile(manifestPath(directory), 'utf8').catch((error: unknown) => {
    throw new CommandError(`${directory} is not a complete backup: it has no readable manifest.json.`, {
      cause: error,
    });
  });
  const parsed = manifest.safeParse(tryParseJson(text));
  if (!parsed.success) throw new CommandError(`${manifestPath(directory)} is not the manifest of a backup.`);
  const { version } = parsed.data;
  if (version > backupVersion) {
    throw new CommandError(
      `The backup has version ${version} of the format; this program can read up to version ${backupVersion}.`,
    );
  }
  return parsed.data;
}

/** The message that says how many webhooks the backup omits, and what to do about them after a restore; undefined if it omits none. */
export function omittedWebhooksMessage({ webhooks = 0 }: Manifest): string | undefined {
  if (webhooks === 0) return undefined;
  return `${pluralize(webhooks, 'webhook')} left out: after a restoration, create ${webhooks === 1 ? 'it' : 'them'} again (docs/webhooks.md).`;
}

/** Parses a line of the list of files. Throws a `CommandError` if `export` cannot have written it. */
export function parseListedFile(line: string): ListedFile {
  const parsed = listedFile.safeParse(tryParseJson(line));
  if (parsed.success) return parsed.data;
  throw new CommandError(`The backup is damaged: files.ndjson has the line ${line.slice(0, 200)}.`);
}

/** Throws if a file does not have the size and checksum with which it was written. */
export async function requireUnchanged(
  path: string,
  { bytes, sha256 }: z.infer<typeof writtenFile>,
): Promise<void> {
  const hash = createHash('sha256');
  let bytesRead = 0;
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytesRead += chunk.length;
    }
  } catch (error) {
    throw new CommandError(`The backup is damaged: ${path} cannot be read.`, { cause: error });
  }
  if (bytesRead !== bytes || hash.digest('hex') !== sha256) {
    throw new CommandError(`The backup is damaged: ${path} has changed since it was written.`);
  }
}
