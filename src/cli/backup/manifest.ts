import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { CommandError } from '../failures.ts';

/** The version of the format that this program writes and reads. */
export const backupVersion = 1;

const written = z.object({ bytes: z.int(), sha256: z.string() });

const manifest = z.object({
  format: z.literal('workgraph-backup'),
  version: z.int(),
  createdUtc: z.string(),
  /** What made the tables; a restored database must have been made by the same. */
  migrations: z.array(z.string()),
  /** A file of each table, a line of JSON for each row in the order of its key. */
  tables: z.array(written.extend({ name: z.string(), rows: z.int() })),
  /** The list of the files, themselves below `files` under their keys in the store. */
  files: written.extend({ count: z.int(), missing: z.int() }),
});
export type Manifest = z.infer<typeof manifest>;
export type BackedUpTable = Manifest['tables'][number];

/** As `contentKey` makes them; no path may lead out of the store. */
const storeKey = /^[0-9a-f-]{36}\/[0-9a-f]{2}\/[0-9a-f-]{36}\.\d+$/;

const listedFile = z.object({
  key: z.string().regex(storeKey),
  bytes: z.int(),
  sha256: z.string().optional(),
});
/** A file of the backup; one without a checksum was not in the store. */
export type ListedFile = z.infer<typeof listedFile>;

export const manifestPath = (directory: string) => join(directory, 'manifest.json');
export const tablePath = (directory: string, name: string) => join(directory, 'tables', `${name}.ndjson`);
export const fileListPath = (directory: string) => join(directory, 'files.ndjson');
export const filePath = (directory: string, key: string) => join(directory, 'files', key);

/** Reads what a backup says of itself; throws a sentence for a person when the directory is none. */
export async function readManifest(directory: string): Promise<Manifest> {
  const text = await readFile(manifestPath(directory), 'utf8').catch((error: unknown) => {
    throw new CommandError(`${directory} is no whole backup: it has no manifest.json that can be read.`, {
      cause: error,
    });
  });
  const parsed = manifest.safeParse(parseJson(text));
  if (!parsed.success) throw new CommandError(`${manifestPath(directory)} is no manifest of a backup.`);
  const { version } = parsed.data;
  if (version > backupVersion) {
    throw new CommandError(
      `The backup is of version ${version} of the format; this program reads ${backupVersion}.`,
    );
  }
  return parsed.data;
}

/** A line of the list of files. */
export function parseListedFile(line: string): ListedFile {
  return listedFile.parse(JSON.parse(line));
}

/** Throws unless a file has the bytes that were written once. */
export async function requireUnchanged(
  path: string,
  { bytes, sha256 }: z.infer<typeof written>,
): Promise<void> {
  const hash = createHash('sha256');
  let found = 0;
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      found += chunk.length;
    }
  } catch (error) {
    throw new CommandError(`The backup is damaged: ${path} cannot be read.`, { cause: error });
  }
  if (found !== bytes || hash.digest('hex') !== sha256) {
    throw new CommandError(`The backup is damaged: ${path} has changed since it was written.`);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
