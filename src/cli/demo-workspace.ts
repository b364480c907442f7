import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TokenHolders } from '../db/access-tokens.ts';
import type { Database } from '../db/engine/engine.ts';
import type { FileStore } from '../storage/storage.ts';
import { selectMemberCards, selectWorkspaces } from '../db/workspaces.ts';
import type { Actor } from '../resolvers/audit.ts';
import { hashToken, issueToken, newTokenText } from '../resolvers/access-tokens.ts';
import { scopes } from '../resolvers/context.ts';

/** Fills in the demo workspace and its files; `conflict` when it is there already. */
export async function addDemo(
  database: Database,
  store: FileStore,
  actor: Actor,
  say: (text: string) => void,
): Promise<string> {
  const { seedDemo } = await import('./demo/seed.ts');
  const { workspaceId } = await seedDemo(database, { store, actor, log: (line) => say(`${line}\n`) });
  return workspaceId;
}

/** Is the demo there, and is anything there at all. */
export async function findDemo(
  database: Database,
): Promise<{ workspaceId: string | undefined; isEmpty: boolean }> {
  const { demoWorkspace } = await import('./demo/rows.ts');
  const workspaces = await selectWorkspaces(database.unscoped);
  const demo = workspaces.find(({ id }) => id === demoWorkspace.workspaceId);
  return { workspaceId: demo?.id, isEmpty: workspaces.length === 0 };
}

/** The demo's token from an earlier start; undefined when there is none, or when it was revoked. */
export async function keptToken(database: Database, dataDir: string): Promise<string | undefined> {
  const { token, holder } = await readKept(database, dataDir);
  return holder && !holder.revokedUtc ? token : undefined;
}

/**
 * The token of the demo's owner with all scopes, kept in the data directory: the one from an earlier start, else a
 * new one. One that was revoked stays so, and is not replaced.
 */
export async function demoToken(
  database: Database,
  dataDir: string,
  actor: Actor,
  workspaceId: string,
): Promise<string | undefined> {
  const { token: kept, holder } = await readKept(database, dataDir);
  if (holder) return holder.revokedUtc ? undefined : kept;
  const [owner] = await selectMemberCards(database.db, workspaceId);
  if (!owner) return undefined;
  const token = newTokenText();
  const path = tokenFile(dataDir);
  await writeFile(path, `${token}\n`, { mode: 0o600 });
  // An existing file keeps its mode.
  await chmod(path, 0o600);
  const { userAccountId } = owner;
  await issueToken(database.db, actor, {
    workspaceId,
    userAccountId,
    parentTokenId: null,
    name: 'demo',
    scopes,
    token,
  });
  return token;
}

async function readKept(database: Database, dataDir: string) {
  const token = await readFile(tokenFile(dataDir), 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  );
  return { token, holder: token ? await new TokenHolders(database).find(hashToken(token)) : undefined };
}

function tokenFile(dataDir: string): string {
  return join(dataDir, 'demo-token');
}
