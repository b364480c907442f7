import { memberRole } from '../../src/model/codes.ts';
import { type Scope, scopes as allScopes } from '../../src/resolvers/context.ts';
import { type App, startApp, type TestWorkspace } from '../support/app.ts';
import type { GraphAnswer } from './graph-answer.ts';
import { type Fixture, turn } from './fixture.ts';
import { insertFixture, makeFixture } from './make-fixture.ts';
import { readModel } from './read-model.ts';
import type { Model } from './model.ts';

/** A server with an awkward workspace, and what its graph must say about it. */
export interface World {
  app: App;
  fixture: Fixture;
  workspace: TestWorkspace;
  /** What the owner should see. */
  model: Model;
  /** Asks as the owner of the awkward workspace, with all scopes, unless a token is given. */
  ask(query: string, variables?: Record<string, unknown>, token?: string | null): Promise<GraphAnswer>;
  /** A token for the member at a place of the fixture: the owner is the first. */
  token(scopes: readonly Scope[], memberPlace?: number): Promise<string>;
  /** Works out anew what the owner should see. */
  read(): Promise<Model>;
  stop(): Promise<void>;
}

/** Starts the server and fills the workspace: once for each test file. */
export async function startWorld(seed = 'here'): Promise<World> {
  const app = await startApp();
  return { ...(await addWorld(app, seed)), stop: () => app.stop() };
}

/** One more such workspace on the same server; an account may be a member of both. */
export async function addWorld(
  app: App,
  seed: string,
  sharedAccountId?: string,
  nowMs = Date.now(),
): Promise<World> {
  const fixture = makeFixture(seed, nowMs, sharedAccountId);
  const { unscoped } = app.database;
  await insertFixture(unscoped, fixture);
  const ownerUserAccountId = turn(fixture.rows.member, 0).userAccountId;
  const workspace = { workspaceId: fixture.workspaceId, ownerUserAccountId, token: '' };
  const token = (scopes: readonly Scope[], memberPlace = 0) =>
    app.tokenFor({ scopes, workspace, userAccountId: turn(fixture.rows.member, memberPlace).userAccountId });
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
