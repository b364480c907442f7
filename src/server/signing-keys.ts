import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigError } from './config.ts';

type Keys = readonly [string, ...string[]];

/**
 * The keys of signed URLs and of the secrets of webhooks: those of the configuration, or the one in the data directory, which the
 * first start creates. Without a data directory the key is lost when the process ends, and with it everything that needs it.
 */
export function readSigningKeys({
  dataDir,
  signingKeys = [],
}: Partial<Pick<Config, 'dataDir' | 'signingKeys'>>): Keys {
  const [first, ...rest] = signingKeys;
  if (first !== undefined) return [first, ...rest];
  return [dataDir === undefined ? newKey() : storedKey(dataDir)];
}

function storedKey(dataDir: string): string {
  const path = join(dataDir, 'signing-key');
  if (!existsSync(path)) makeKey(dataDir, path);
  chmodSync(path, 0o600);
  const key = readFileSync(path, 'utf8').trim();
  if (key.length < 32)
    throw new ConfigError([
      `${path} does not contain a key of 32 characters or more. Restore it, or delete it to get a new one: addresses of files and the secrets of webhooks are then invalid.`,
    ]);
  return key;
}

/** Writes the key completely or not at all. If two processes start at once, the later one uses the key of the other. */
function makeKey(dataDir: string, path: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const temporaryPath = join(dataDir, `signing-key.${randomUUID()}`);
  writeFileSync(temporaryPath, `${newKey()}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(temporaryPath, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(temporaryPath);
  }
}

function newKey(): string {
  return randomBytes(32).toString('base64url');
}
