import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { selectTokenHolder } from '../db/access-tokens.ts';
import type { Database } from '../db/engine.ts';
import { selectWorkspaces } from '../db/workspaces.ts';
import { hashToken, issueToken, newTokenText } from '../resolvers/access-tokens.ts';
import { scopes } from '../resolvers/context.ts';

/** Is there nothing in the database yet, so that the demo would be alone. */
export async function isEmpty(database: Database): Promise<boolean> {
  return (await selectWorkspaces(database.unscoped)).length === 0;
}

/** Fills in the demo workspace and gives its owner a token, which is kept in the data directory. */
export async function addDemo(database: Database, dataDir: string): Promise<{ workspaceId: string; token: string }> {
  const token = newTokenText();
  // First the file: a start that breaks off between the two leaves a token that does not work, not one that is lost.
  await keepToken(dataDir, token);
  const { seedDemo } = await import('./demo/seed.ts');
  const { workspaceId, ownerUserAccountId: userAccountId } = await seedDemo(database);
  await issueToken(database.db, { workspaceId, userAccountId, parentTokenId: null, name: 'demo', scopes, token });
  return { workspaceId, token };
}

/** The demo's token from an earlier start, if it is there and still good for something. */
export async function keptToken(database: Database, dataDir: string): Promise<string | undefined> {
  const token = await readFile(tokenFile(dataDir), 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  );
  if (!token) return undefined;
  const holder = await selectTokenHolder(database.unscoped, hashToken(token));
  return holder && !holder.revokedUtc ? token : undefined;
}

async function keepToken(dataDir: string, token: string): Promise<void> {
  const path = tokenFile(dataDir);
  await writeFile(path, `${token}\n`, { mode: 0o600 });
  // An existing file keeps its mode.
  await chmod(path, 0o600);
}

function tokenFile(dataDir: string): string {
  return join(dataDir, 'demo-token');
}
