import { memberRole } from '../../src/model/codes.ts';
import { scopes as allScopes } from '../../src/resolvers/context.ts';
import { parseRows } from '../support/printed-rows.ts';
import { isSharing, sharedApp, type SharedApp, sharedServer } from '../support/shared-app.ts';
import { cyclicAt } from './fixture.ts';
import { makeFixture } from './make-fixture.ts';
import { modelOf } from './read-model.ts';
import type { AllRows } from './model.ts';
import type { World } from './world.ts';

/** The members of a world that a read-only suite may use. */
export type SharedWorld = Omit<World, 'app' | 'read'> & { app: Pick<SharedApp, 'graphql' | 'request'> };

/** Returns the fixture workspace on the server that the read-only suites of the run share; see `startWorld`. */
export async function sharedWorld(): Promise<SharedWorld> {
  if (!isSharing) {
    const { startWorld } = await import('./world.ts');
    return startWorld();
  }
  const app = await sharedApp();
  const { ask } = await sharedServer();
  const { nowMs, workspace, rows } = await ask('world');
  // The same seed and time give the same rows as on the server.
  const fixture = makeFixture('here', nowMs);
  const { ownerUserAccountId: userAccountId } = workspace;
  const viewer = { userAccountId, role: memberRole.owner, scopes: allScopes, nowMs: Date.now() };
  return {
    app,
    fixture,
    workspace,
    model: modelOf(parseRows<AllRows>(rows), viewer),
    token: (scopes, memberIndex = 0) => {
      const holder = cyclicAt(fixture.rows.member, memberIndex);
      return app.tokenFor({ scopes, workspace, userAccountId: holder.userAccountId });
    },
    ask: (query, variables = {}, sent = workspace.token) => app.graphql(query, variables, { token: sent }),
    stop: () => app.stop(),
  };
}
