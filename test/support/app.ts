import type { Writable } from 'node:stream';
import type { ExecutionResult } from 'graphql';
import { pino } from 'pino';
import type { Database } from '../../src/db/engine/engine.ts';
import type { FileStore } from '../../src/storage/storage.ts';
import { selectMemberCards } from '../../src/db/workspaces.ts';
import { issueToken } from '../../src/resolvers/access-tokens.ts';
import type { memberRole } from '../../src/model/codes.ts';
import { type Scope, scopes as allScopes } from '../../src/resolvers/context.ts';
import { createWorkspace } from '../../src/resolvers/workspaces.ts';
import { readConfig, type Settings } from '../../src/server/config.ts';
import { openDocuments } from '../../src/server/graphql/open-documents.ts';
import { openFiles } from '../../src/server/open-files.ts';
import { type RunningServer, startServer } from '../../src/server/server.ts';
import { httpClient } from './http-client.ts';
import { member } from './fixtures.ts';
// What holds answers against the document is there before the first one: its loading would delay that.
import './openapi.ts';
import { generousAdmission } from './generous-admission.ts';
import type { Content } from './template-paths.ts';
import { copyTemplate } from './templates.ts';
import { systemActor } from '../../src/resolvers/audit.ts';

/** Who may do what: `token: null` sends none; the owner's token with all scopes is sent when nothing is said. */
export interface Sent {
  token?: string | null;
  headers?: Record<string, string>;
}

/** An answer with its body read: JSON parsed, anything else as text. */
export interface Answer<Body = unknown> {
  status: number;
  headers: Headers;
  body: Body;
  /** How many SQL statements it took, the look-up of the token among them. */
  statements: number;
}

/** A workspace to test in, with its owner. */
export interface TestWorkspace {
  workspaceId: string;
  ownerUserAccountId: string;
  /** The owner's token, with all scopes. */
  token: string;
}

/** A server of the test's own, and the doors to it. */
export interface App extends TestWorkspace {
  url: string;
  /** Where it tells its metrics, with METRICS_ADDRESS among the settings. */
  metricsUrl: string | undefined;
  database: Database;
  dataDir: string;
  /** Where the server keeps files. */
  store: FileStore;
  graphql<Data = Record<string, unknown>>(
    query: string,
    variables?: Record<string, unknown>,
    sent?: Sent,
  ): Promise<Answer<ExecutionResult<Data>>>;
  request<Body = unknown>(
    method: string,
    path: string,
    sent?: Sent & { body?: unknown },
  ): Promise<Answer<Body>>;
  /** A token of a new member of the role; of the owner when no role is given. */
  tokenFor(holder?: {
    scopes?: readonly Scope[];
    role?: keyof typeof memberRole;
    userAccountId?: string;
    workspace?: TestWorkspace;
    expiresUtc?: Date;
  }): Promise<string>;
  secondWorkspace(): Promise<TestWorkspace>;
  /** Throws when the server has logged a token or a statement that the tenant guard refused. */
  checkLog(): void;
  /** Stops the server, drops its database and checks its log. */
  stop(): Promise<void>;
}

export interface AppOptions {
  /** Starts with the demo workspace, whose owner's the token then is; an empty workspace otherwise. */
  demo?: boolean;
  /** The same said by the name of the template. */
  content?: Content;
  /** `info` shows the server's log lines while a test is being written. */
  logLevel?: string;
  /** Takes the log lines in place of standard output. */
  log?: Writable;
  /** Settings of the server, under the names of the environment. */
  settings?: Settings;
}

/** No test runs into the limits of rates, costs and times by accident. */
const generous: Settings = {
  MAX_CONCURRENCY: String(generousAdmission.maxConcurrency),
  QUEUE_WAIT_MS: String(generousAdmission.queueWaitMs),
  REQUEST_TIMEOUT_MS: String(generousAdmission.requestTimeoutMs),
  REQUESTS_PER_MINUTE: '1000000000',
  COST_PER_HOUR: '1000000000',
  UNKNOWN_TOKENS_PER_MINUTE: '1000000000',
  MAX_OPERATION_COST: '1000000000',
  // Requests with any values must not take long.
  CHANGES_WAIT_MS: '300',
};

/** The whole suite runs over either executor and either path to it: `npm run test:all`. */
const chosen: Settings = {
  EXECUTOR: process.env.TEST_EXECUTOR,
  GRAPHQL_PATH: process.env.TEST_GRAPHQL_PATH,
  WRITE_BATCHING: process.env.WRITE_BATCHING,
};

export { isGraphqlJs } from './chosen-executor.ts';

/** Starts a server on a database of its own: embedded, or on PostgreSQL when TEST_DATABASE_URL is set. */
export async function startApp({
  demo = false,
  content = demo ? 'demo' : 'migrated',
  logLevel = 'silent',
  log,
  settings = {},
}: AppOptions = {}): Promise<App> {
  const { database, dataDir, drop } = await copyTemplate(content);
  const home = content === 'migrated' ? await newWorkspace(database, 'Test') : await demoWorkspace(database);
  const config = readConfig({ PORT: '0', DATA_DIR: dataDir, ...generous, ...chosen, ...settings }, {});
  const files = openFiles(config);
  const leaks: string[] = [];
  // When the compiled executor cannot bind a statement, graphql-js answers in its place, with statements of its own.
  const canary = {
    write: (line: string) => void (/wg_[0-9a-f]{48}|Tenant(?:Proof)?Error/.test(line) && leaks.push(line)),
  };
  // Every suite looks for tokens and refused statements in all that its server logged.
  const checkLog = () => {
    if (leaks.length > 0) throw new Error(`The log must not contain: ${leaks[0]}`);
  };
  const documents = await openDocuments(config);
  const server = await startServer({
    database,
    config,
    logger:
      log || logLevel !== 'silent'
        ? pino({ level: logLevel }, log ?? process.stdout)
        : pino({ level: 'trace' }, canary),
    files,
    documents,
  });
  return {
    ...home,
    ...httpClient(server.url, home.token),
    url: server.url,
    metricsUrl: server.metricsUrl,
    database,
    dataDir,
    store: files.store,
    tokenFor: (holder = {}) => tokenFor(database, home, holder),
    secondWorkspace: () => newWorkspace(database, 'Second'),
    checkLog,
    stop: async () => {
      await stop(server, drop);
      checkLog();
    },
  };
}

async function demoWorkspace(database: Database): Promise<TestWorkspace> {
  const [workspace] = await database.unscoped.selectFrom('workspace').select('id').execute();
  if (!workspace) throw new Error('The demo has no workspace.');
  const [owner] = await selectMemberCards(database.of(workspace.id));
  if (!owner) throw new Error('The demo workspace has no member.');
  const home = { workspaceId: workspace.id, ownerUserAccountId: owner.userAccountId };
  return { ...home, token: await tokenFor(database, { ...home, token: '' }, {}) };
}

async function newWorkspace(database: Database, name: string): Promise<TestWorkspace> {
  const made = await createWorkspace(database, systemActor, { name, ownerDisplayName: 'Olive Owner' });
  const { workspaceId, ownerUserAccountId, ownerToken } = made;
  return { workspaceId, ownerUserAccountId, token: ownerToken.token };
}

async function tokenFor(
  database: Database,
  home: TestWorkspace,
  {
    scopes = allScopes,
    role,
    userAccountId,
    workspace = home,
    expiresUtc,
  }: Parameters<App['tokenFor']>[0] & object,
): Promise<string> {
  const { workspaceId } = workspace;
  const holder = role ? (await member(database, workspaceId, { role })).userAccountId : undefined;
  const issued = await issueToken(database.of(workspaceId), systemActor, {
    userAccountId: userAccountId ?? holder ?? workspace.ownerUserAccountId,
    parentTokenId: null,
    name: 'test',
    scopes,
    expiresUtc,
  });
  return issued.token;
}

async function stop(server: RunningServer, drop: () => Promise<void>): Promise<void> {
  await server.stop();
  await drop();
}
