import type { Config } from '../config.ts';

/** Shorter secrets occur in too many words to be removed from a text. */
const minSecretLength = 6;

/** The secrets of a configuration: passwords in URLs, and keys. */
export function secretsOf(
  config: Pick<Config, 'databaseUrl' | 'readDatabaseUrls' | 'redisUrl' | 'storageUrl' | 'signingKeys'>,
): string[] {
  const { databaseUrl, readDatabaseUrls, redisUrl, storageUrl, signingKeys } = config;
  const passwords = [databaseUrl, ...readDatabaseUrls, redisUrl, storageUrl].flatMap((url) => {
    const password = url === undefined ? '' : new URL(url).password;
    return [password, decode(password)];
  });
  return [...new Set([...passwords, ...signingKeys])].filter(({ length }) => length >= minSecretLength);
}

const tokenPattern = /wg_[0-9a-f]{16,}/g;

/** Removes tokens and these secrets from a text. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const rest = secrets.reduce((remaining, secret) => remaining.replaceAll(secret, '[secret]'), text);
  return rest.includes('wg_') ? rest.replace(tokenPattern, 'wg_[secret]') : rest;
}

function decode(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}
