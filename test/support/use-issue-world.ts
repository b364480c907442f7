import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Settings } from '../../src/server/config.ts';
import { type App, startApp } from './app.ts';
import { brokenInvariants } from './invariants.ts';
import { issueWorld, type IssueWorld } from './issue-world.ts';
import { type Caller, callerOf } from './mutations.ts';

/** The server, workspace and caller that the tests of a file use. They are available once the first test runs. */
interface TestWorld {
  readonly app: App;
  readonly world: IssueWorld;
  /** Sends mutations as the member Ada. */
  readonly ada: Caller;
}

/**
 * Before the tests of a file, starts a server whose workspace has everything that an issue can refer to, and stops it
 * after them. At the end all stored counts must be right, unless the tests change rows by SQL (`changesRows`). Tests that affect
 * all workspaces, or leave work for the servers of later files, need their own database (`ownDatabase`).
 */
export function useIssueWorld({
  changesRows = false,
  ownDatabase = false,
  settings = {},
}: {
  changesRows?: boolean;
  ownDatabase?: boolean;
  settings?: Settings;
} = {}): TestWorld {
  let current: TestWorld | undefined;
  const requireWorld = (): TestWorld => {
    if (!current) throw new Error('The issue world is available only inside tests and hooks.');
    return current;
  };
  beforeAll(async () => {
    const app = await startApp({ settings, sharesDatabase: !ownDatabase });
    const world = await issueWorld(app);
    current = { app, world, ada: callerOf(app, world.ada.token) };
  });
  afterAll(async () => {
    const { app } = requireWorld();
    const broken = changesRows ? {} : await brokenInvariants(app.database);
    await app.stop();
    expect(broken).toEqual({});
  });
  return {
    app: lazyProxy(() => requireWorld().app),
    world: lazyProxy(() => requireWorld().world),
    ada: lazyProxy(() => requireWorld().ada),
  };
}

/** A proxy for an object that is created later. */
function lazyProxy<T extends object>(get: () => T): T {
  return new Proxy({} as T, { get: (_target, property) => Reflect.get(get(), property) as unknown });
}
