import { memberRole } from '../../src/model/codes.ts';
import { type Scope, scopes as allScopes } from '../../src/resolvers/context.ts';
import { type App, startApp, type TestWorkspace } from '../support/app.ts';
import type { GraphAnswer } from './graph-answer.ts';
import { type Fixture, cyclicAt } from './fixture.ts';
import { insertFixture, makeFixture } from './make-fixture.ts';
import { readModel } from './read-model.ts';
import type { Model } from './model.ts';

/** A server with the fixture workspace, and the model of what its graph must return. */
export interface World {
  app: App;
  fixture: Fixture;
  workspace: TestWorkspace;
  /** What the owner should see, as of the start. */
  model: Model;
  /** Sends an operation, by default with the owner's token. */
  ask(query: string, variables?: Record<string, unknown>, token?: string | null): Promise<GraphAnswer>;
  /** Issues a token for a member of the fixture by index. The first is the owner. */
  token(scopes: readonly Scope[], memberIndex?: number): Promise<string>;
  /** Computes again what the owner should see. */
  read(): Promise<Model>;
  stop(): Promise<void>;
}

/** Starts a server and fills the workspace. */
export async function startWorld(seed = 'here', { sharesDatabase = true } = {}): Promise<World> {
  const app = await startApp({ sharesDatabase });
  return { ...(await addWorld(app, seed)), stop: () => app.stop() };
}

/** Adds another such workspace to a server. One account may be a member of both. */
export async function addWorld(
  app: App,
  seed: string,
  sharedAccountId?: string,
  nowMs = Date.now(),
): Promise<World> {
  const fixture = makeFixture(seed, nowMs, sharedAccountId);
  const { unscoped } = app.database;
  await insertFixture(unscoped, fixture);
  const ownerUserAccountId = cyclicAt(fixture.rows.member, 0).userAccountId;
  const workspace = { workspaceId: fixture.workspaceId, ownerUserAccountId, token: '' };
  const token = (scopes: readonly Scope[], memberIndex = 0) =>
    app.tokenFor({
      scopes,
      workspace,
      userAccountId: cyclicAt(fixture.rows.member, memberIndex).userAccountId,
    });
  workspace.token = await token(allScopes);
  const viewer = { userAccountId: ownerUserAccountId, role: memberRole.owner, scopes: allScopes, nowMs };
  const read = () => readModel(unscoped, fixture.workspaceId, viewer);
  return {
    app,
    fixture,
    workspace,
    model: await read(),
    read,
    token,
    ask: (query, variables = {}, sent = workspace.token) => app.graphql(query, variables, { token: sent }),
    stop: () => Promise.resolve(),
  };
}
