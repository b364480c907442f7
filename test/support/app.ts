import type { Writable } from 'node:stream';
import type { ExecutionResult } from 'graphql';
import { pino } from 'pino';
import type { Database } from '../../src/db/engine/engine.ts';
import type { FileStore } from '../../src/storage/storage.ts';
import { selectMemberCards } from '../../src/db/workspaces.ts';
import { issueToken } from '../../src/resolvers/access/access-tokens.ts';
import type { memberRole } from '../../src/model/codes.ts';
import { type Scope, scopes as allScopes } from '../../src/resolvers/context.ts';
import { createWorkspace } from '../../src/resolvers/workspaces.ts';
import { readConfig, type Settings } from '../../src/server/config.ts';
import { openDocuments } from '../../src/server/graphql/open-documents.ts';
import { openFiles } from '../../src/server/open-files.ts';
import { type RunningServer, startServer } from '../../src/server/server.ts';
import { httpClient } from './http-client.ts';
import { member } from './fixtures.ts';
import { addOwnWorkspace } from './own-workspaces.ts';
// Answers are checked against openapi.json. Loading the checker here keeps its cost out of the first request.
import './openapi.ts';
import { generousAdmission } from './generous-admission.ts';
import type { Content } from './template-paths.ts';
import { copyTemplate, databaseOfWorker } from './templates.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';

/** The credentials and headers of a request. The default token is the owner's, with all scopes; `null` sends none. */
export interface RequestOptions {
  token?: string | null;
  headers?: Record<string, string>;
}

/** An answer with its body: parsed JSON, or any other content as text. */
export interface Answer<Body = unknown> {
  status: number;
  headers: Headers;
  body: Body;
  /** The number of SQL statements that it took, including the look-up of the token. */
  statements: number;
}

/** A workspace to test in, with its owner. */
export interface TestWorkspace {
  workspaceId: string;
  ownerUserAccountId: string;
  /** The owner's token, with all scopes. */
  token: string;
}

/** A server that belongs to one test file, and ways to send requests to it. */
export interface App extends TestWorkspace {
  url: string;
  /** The URL of the metrics, if METRICS_ADDRESS is set. */
  metricsUrl: string | undefined;
  database: Database;
  dataDir: string;
  /** The store of the server's attachments. */
  store: FileStore;
  graphql<Data = Record<string, unknown>>(
    query: string,
    variables?: Record<string, unknown>,
    options?: RequestOptions,
  ): Promise<Answer<ExecutionResult<Data>>>;
  request<Body = unknown>(
    method: string,
    path: string,
    options?: RequestOptions & { body?: unknown },
  ): Promise<Answer<Body>>;
  /** Issues a token for a new member with the given role, or for the owner if there is no role. */
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
  /** Starts with the demo workspace, and `token` belongs to its owner. By default the workspace is empty. */
  demo?: boolean;
  /** The template to start with; `demo: true` stands for `content: 'demo'`. */
  content?: Content;
  /**
   * Uses the database of the other test files of the worker, in which the file may write only in workspaces that it creates. A file
   * that counts or changes the rows of all workspaces, or damages the database, needs its own.
   */
  sharesDatabase?: boolean;
  /** `info` prints the server's log lines, which helps while writing a test. */
  logLevel?: string;
  /** Receives the log lines instead of standard output. */
  log?: Writable;
  /** Settings of the server, by the names of their environment variables. */
  settings?: Settings;
}

/** Limits so high that no test exceeds a rate, a cost or a time by accident. */
const generousSettings: Settings = {
  MAX_CONCURRENCY: String(generousAdmission.maxConcurrency),
  QUEUE_WAIT_MS: String(generousAdmission.queueWaitMs),
  REQUEST_TIMEOUT_MS: String(generousAdmission.requestTimeoutMs),
  REQUESTS_PER_MINUTE: '1000000000',
  COST_PER_HOUR: '1000000000',
  UNKNOWN_TOKENS_PER_MINUTE: '1000000000',
  MAX_OPERATION_COST: '1000000000',
  // Tests that send random values may request the maximum wait.
  CHANGES_WAIT_MS: '300',
};

/** `npm run test:all` runs the whole suite with each executor, on each path to it. */
const settingsOfRun: Settings = {
  EXECUTOR: process.env.TEST_EXECUTOR,
  GRAPHQL_PATH: process.env.TEST_GRAPHQL_PATH,
  WRITE_BATCHING: process.env.WRITE_BATCHING,
};

export { isGraphqlJs } from './chosen-executor.ts';

/** Starts a server on a database of its own: embedded, or on PostgreSQL when TEST_DATABASE_URL is set. */
export async function startApp({
  demo = false,
  content = demo ? 'demo' : 'migrated',
  sharesDatabase = false,
  logLevel = 'silent',
  log,
  settings = {},
}: AppOptions = {}): Promise<App> {
  if (sharesDatabase && content !== 'migrated')
    throw new Error('The database of several test files has no demo.');
  const { database, dataDir, drop } = await (sharesDatabase ? databaseOfWorker() : copyTemplate(content));
  const home = content === 'migrated' ? await newWorkspace(database, 'Test') : await demoWorkspace(database);
  const config = readConfig(
    { PORT: '0', DATA_DIR: dataDir, ...generousSettings, ...settingsOfRun, ...settings },
    {},
  );
  const files = openFiles(config);
  const leaks: string[] = [];
  // A refused statement would not fail a test by itself: graphql-js answers instead, with statements of its own.
  const canary = {
    write: (line: string) => void (/wg_[0-9a-f]{48}|Tenant(?:Proof)?Error/.test(line) && leaks.push(line)),
  };
  // Every suite checks that its server has logged neither a token nor a refused statement.
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
  const [workspace] = await database.unscoped
    .selectFrom('workspace')
    .select('id')
    .where('name', '=', 'Halyard & Tern')
    .execute();
  if (!workspace) throw new Error('The demo has no workspace.');
  const [owner] = await selectMemberCards(database.of(workspace.id));
  if (!owner) throw new Error('The demo workspace has no member.');
  const home = { workspaceId: workspace.id, ownerUserAccountId: owner.userAccountId };
  return { ...home, token: await tokenFor(database, { ...home, token: '' }, {}) };
}

async function newWorkspace(database: Database, name: string): Promise<TestWorkspace> {
  const workspace = await createWorkspace(database, systemActor, { name, ownerDisplayName: 'Olive Owner' });
  const { workspaceId, ownerUserAccountId, ownerToken } = workspace;
  addOwnWorkspace(database, workspaceId);
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
