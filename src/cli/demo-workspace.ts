import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { TokenHolders } from '../db/access-tokens.ts';
import type { Database } from '../db/engine/engine.ts';
import type { FileStore } from '../storage/storage.ts';
import { selectMemberCards, selectWorkspaces } from '../db/workspaces.ts';
import type { Actor } from '../resolvers/audit.ts';
import { hashToken, issueToken, newTokenText } from '../resolvers/access-tokens.ts';
import { scopes } from '../resolvers/context.ts';
import { headerOf, ownDemo, workspaceIdOf } from './demo-files.ts';

/** Creates the demo workspace and its files; throws `conflict` if it exists. */
export async function addDemo(
  database: Database,
  store: FileStore,
  actor: Actor,
  say: (text: string) => void,
): Promise<string> {
  // Most starts create no demo, so what creates it is loaded only now.
  const { seedDemo } = await import('./seed-demo.ts');
  const { workspaceId } = await seedDemo(database, { store, actor, say });
  return workspaceId;
}

/** Says whether the demo exists, and whether the database has no workspace at all. */
export async function findDemo(
  database: Database,
): Promise<{ workspaceId: string | undefined; isEmpty: boolean }> {
  const workspaces = await selectWorkspaces(database.unscoped);
  const demoId = workspaceIdOf(await headerOf(ownDemo));
  const demo = workspaces.find(({ id }) => id === demoId);
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
  return ownerToken(database, actor, workspaceId, async (token) => {
    const path = tokenFileOf(dataDir);
    // A file that is there would keep its mode, and a reader who had it open would see the token.
    await rm(path, { force: true });
    await writeFile(path, `${token}\n`, { mode: 0o600, flag: 'wx' });
  });
}

/**
 * A new token of the workspace's first owner with all scopes; undefined if the workspace has no member. `keep` stores
 * the token before it becomes valid.
 */
export async function ownerToken(
  database: Database,
  actor: Actor,
  workspaceId: string,
  keep: (token: string) => Promise<void> = () => Promise.resolve(),
): Promise<string | undefined> {
  const [owner] = await selectMemberCards(database.of(workspaceId));
  if (!owner) return undefined;
  const token = newTokenText();
  await keep(token);
  await issueToken(database.of(workspaceId), actor, {
    userAccountId: owner.userAccountId,
    parentTokenId: null,
    name: 'demo',
    scopes,
    token,
  });
  return token;
}

async function readKept(database: Database, dataDir: string) {
  const path = tokenFileOf(dataDir);
  const token = await readFile(path, 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  );
  const holder = token ? await new TokenHolders(database).find(hashToken(token)) : undefined;
  // It may have been copied here with another mode. A file of another user keeps its mode: only they can change it.
  if (holder) await chmod(path, 0o600).catch(() => undefined);
  return { token, holder };
}

/** The absolute path of the file that keeps the demo's token, readable by its owner alone. */
export function tokenFileOf(dataDir: string): string {
  return resolve(dataDir, 'demo-token');
}
