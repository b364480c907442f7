import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { TokenHolders } from '../../db/access-tokens.ts';
import type { Database } from '../../db/engine/engine.ts';
import type { FileStore } from '../../storage/storage.ts';
import { selectMemberCards, selectWorkspaces } from '../../db/workspaces.ts';
import type { Actor } from '../../resolvers/access/audit.ts';
import { hashToken, issueToken, newTokenText } from '../../resolvers/access/access-tokens.ts';
import { scopes } from '../../resolvers/context.ts';
import { headerOf, bundledDemo, workspaceIdOf } from './demo-files.ts';
import { tokenFileOf } from './token-file.ts';

/** Creates the demo workspace and its files; throws `conflict` if it exists. */
export async function addDemo(
  database: Database,
  store: FileStore,
  actor: Actor,
  onMessage: (text: string) => void,
): Promise<string> {
  // Most starts create no demo, so what creates it is loaded only now.
  const { seedDemo } = await import('./seed-demo.ts');
  return seedDemo(database, { store, actor, onMessage });
}

/** Says whether the demo exists, and whether the database has no workspace at all. */
export async function findDemo(
  database: Database,
): Promise<{ workspaceId: string | undefined; isEmpty: boolean }> {
  const workspaces = await selectWorkspaces(database.unscoped);
  const demoId = workspaceIdOf(await headerOf(bundledDemo));
  const demo = workspaces.find(({ id }) => id === demoId);
  return { workspaceId: demo?.id, isEmpty: workspaces.length === 0 };
}

/** The demo's token from an earlier start; undefined if there is none, or if it was revoked. */
export async function storedToken(database: Database, dataDir: string): Promise<string | undefined> {
  const { token, holder } = await readStored(database, dataDir);
  return holder && !holder.revokedUtc ? token : undefined;
}

/**
 * The token of the demo's owner with all scopes, which is stored in the data directory: the token of an earlier start,
 * or a new one. Undefined if the stored token was revoked, because a new token would undo that.
 */
export async function demoToken(
  database: Database,
  dataDir: string,
  actor: Actor,
  workspaceId: string,
): Promise<string | undefined> {
  const { token: stored, holder } = await readStored(database, dataDir);
  if (holder) return holder.revokedUtc ? undefined : stored;
  return ownerToken(database, actor, workspaceId, async (token) => {
    const path = tokenFileOf(dataDir);
    // An existing file would keep its mode, and a process that has it open could read the token.
    await rm(path, { force: true });
    await writeFile(path, `${token}\n`, { mode: 0o600, flag: 'wx' });
  });
}

/**
 * Creates a token with all scopes for the workspace's first owner; returns undefined if the workspace has no member.
 * `store` stores the token before it becomes valid.
 */
export async function ownerToken(
  database: Database,
  actor: Actor,
  workspaceId: string,
  store: (token: string) => Promise<void> = () => Promise.resolve(),
): Promise<string | undefined> {
  const [owner] = await selectMemberCards(database.of(workspaceId));
  if (!owner) return undefined;
  const token = newTokenText();
  await store(token);
  await issueToken(database.of(workspaceId), actor, {
    userAccountId: owner.userAccountId,
    parentTokenId: null,
    name: 'demo',
    scopes,
    token,
  });
  return token;
}

async function readStored(database: Database, dataDir: string) {
  const path = tokenFileOf(dataDir);
  const token = await readFile(path, 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  );
  const holder = token ? await new TokenHolders(database).find(hashToken(token)) : undefined;
  // The file may have been copied here with another mode. This fails for a file of another user, which is left as it
  // is.
  if (holder) await chmod(path, 0o600).catch(() => undefined);
  return { token, holder };
}
