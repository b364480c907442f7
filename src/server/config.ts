import { resolve } from 'node:path';
import type { WireName } from '../db/wire/postgres-wire.ts';
import type { ExecutorName } from '../executor/execute.ts';
import type { AdmissionLimits } from './limits/admission.ts';
import { settingsSchema } from './setting-schemas.ts';
import { flagNameOf, type LogLevel, type SettingName, settingNames } from './settings.ts';

/** What a server is told from outside; see docs and docs/contract.md, "Running". */
export interface Config {
  readonly port: number;
  readonly host: string;
  readonly dataDir: string;
  /** PostgreSQL; the embedded database of `dataDir` when undefined. */
  readonly databaseUrl: string | undefined;
  /** Does PostgreSQL keep statements by name. */
  readonly prepared: boolean;
  /** How statements are sent to PostgreSQL and their rows are read. */
  readonly wire: WireName;
  /** Where clients reach the service, without a slash at the end; from host and port when undefined. */
  readonly publicUrl: string | undefined;
  readonly logLevel: LogLevel;
  /** Where files are kept: `file:`, or an S3-compatible store by `http:` or `https:`; in `dataDir` when undefined. */
  readonly storageUrl: string | undefined;
  /** The first signs the addresses of files, all verify them; none: the key in `dataDir`. */
  readonly signingKeys: readonly string[];
  /** An origin for files alone, without a slash at the end. */
  readonly filesUrl: string | undefined;
  readonly attachmentLimitBytes: number;
  /** What each caller may do. */
  readonly rates: {
    readonly requestsPerMinute: number;
    readonly costPerHour: number;
    /** How many tokens that are not good one address may have looked up. */
    readonly unknownTokensPerMinute: number;
  };
  readonly maxOperationCost: number;
  /** Where processes count their callers together; each counts for itself when undefined. */
  readonly redisUrl: string | undefined;
  /** Where `/metrics` listens; there is none when undefined. */
  readonly metricsAddress: { readonly host: string; readonly port: number } | undefined;
  readonly admission: AdmissionLimits;
  /** How PostgreSQL is used by the server; commands have more time. */
  readonly pool: {
    readonly poolSize: number;
    readonly statementTimeoutMs: number;
    readonly lockTimeoutMs: number;
    readonly connectTimeoutMs: number;
    readonly idleTransactionMs: number;
    readonly waitMs: number;
  };
  /** PostgreSQL for what listens, where `databaseUrl` is a pooler; `databaseUrl` when undefined. */
  readonly listenUrl: string | undefined;
  /** How long a client may take for its headers, for a body, and between two pieces of a file. */
  readonly clientTimeoutMs: number;
  /** Bytes of answers that may wait for clients to read them, over all connections. */
  readonly unsentBytes: number;
  /** How long readiness says no before connections are refused at a stop. */
  readonly drainMs: number;
  /** From how long on a statement has a line in the log. */
  readonly slowStatementMs: number;
  /** Are GraphiQL and the reference page there. */
  readonly explorer: boolean;
  /** Most rows of reference data cached in memory, over all workspaces. */
  readonly referenceRows: number;
  /** Who may ask the schema about itself. */
  readonly introspection: Introspection;
  /** Origins whose pages may ask this server; no other may. */
  readonly corsOrigins: readonly string[];
  /** Addresses and networks whose word on host, protocol and client is taken. */
  readonly trustedProxies: readonly string[];
  /** Which executor answers queries. */
  readonly executor: ExecutorName;
  /** Do writes that can go together share a statement. */
  readonly writeBatching: boolean;
  /** Which way a POST to `/graphql` goes: straight to the executor, or through Yoga as every GET does. */
  readonly graphqlPath: 'direct' | 'general';
  /** Which documents clients may send to `/graphql`: any, or those of the manifest alone. */
  readonly documents: 'any' | 'trusted';
  /** A manifest of documents that clients may name by their ids. */
  readonly documentsFile: string | undefined;
}

/** Everybody, those with a token, or nobody. */
export type Introspection = 'public' | 'tokens' | 'off';

/** Settings as text, under the names that the environment and the flags share: `DATA_DIR` is `--data-dir`. */
export type Settings = Partial<Record<SettingName, string | undefined>>;

/** Everything that is wrong with the settings, one sentence each. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Reads flags before the environment; an empty value counts as none. Throws ConfigError. */
export function readConfig(flags: Settings = {}, environment: NodeJS.ProcessEnv = process.env): Config {
  const named = settingNames.map((name) => [name, flags[name] || environment[name] || undefined] as const);
  const parsed = settingsSchema.safeParse(Object.fromEntries(named));
  if (!parsed.success) {
    throw new ConfigError(
      parsed.error.issues.map(({ path: [name = ''], message }) => {
        const from = flags[name as SettingName] ? `--${flagNameOf(String(name))}` : String(name);
        return `${from} ${message}`;
      }),
    );
  }
  const given = parsed.data;
  return {
    port: given.PORT,
    host: given.HOST,
    dataDir: resolve(given.DATA_DIR),
    databaseUrl: given.DATABASE_URL,
    prepared: given.PREPARED,
    wire: given.WIRE,
    publicUrl: given.PUBLIC_URL && withoutSlashes(given.PUBLIC_URL),
    logLevel: given.LOG_LEVEL,
    storageUrl: given.STORAGE_URL,
    signingKeys: given.SIGNING_KEYS,
    filesUrl: given.FILES_URL && withoutSlashes(given.FILES_URL),
    attachmentLimitBytes: given.ATTACHMENT_LIMIT_BYTES,
    rates: {
      requestsPerMinute: given.REQUESTS_PER_MINUTE,
      costPerHour: given.COST_PER_HOUR,
      unknownTokensPerMinute: given.UNKNOWN_TOKENS_PER_MINUTE,
    },
    maxOperationCost: given.MAX_OPERATION_COST,
    redisUrl: given.REDIS_URL,
    metricsAddress: given.METRICS_ADDRESS,
    admission: {
      maxConcurrency: given.MAX_CONCURRENCY,
      queueWaitMs: given.QUEUE_WAIT_MS,
      requestTimeoutMs: given.REQUEST_TIMEOUT_MS,
    },
    pool: {
      poolSize: given.POOL_SIZE,
      statementTimeoutMs: given.STATEMENT_TIMEOUT_MS,
      lockTimeoutMs: given.LOCK_TIMEOUT_MS,
      connectTimeoutMs,
      idleTransactionMs,
      waitMs: given.QUEUE_WAIT_MS,
    },
    listenUrl: given.LISTEN_URL,
    clientTimeoutMs: given.CLIENT_TIMEOUT_MS,
    unsentBytes: given.UNSENT_LIMIT_BYTES,
    drainMs: given.DRAIN_MS,
    slowStatementMs: given.SLOW_STATEMENT_MS,
    explorer: given.EXPLORER,
    referenceRows: given.REFERENCE_ROWS,
    introspection: given.INTROSPECTION,
    corsOrigins: given.CORS_ORIGINS,
    trustedProxies: given.TRUSTED_PROXIES,
    executor: given.EXECUTOR,
    writeBatching: given.WRITE_BATCHING,
    graphqlPath: given.GRAPHQL_PATH,
    documents: given.DOCUMENTS,
    documentsFile: given.DOCUMENTS_FILE,
  };
}

/** What npm, or `bin/workgraph.js` under a Node that is too old, says to the process that it starts. */
export function readLauncher(environment: NodeJS.ProcessEnv = process.env) {
  const { npm_lifecycle_event: script, npm_package_name: packageName } = environment;
  return { script, packageName, parentPid: Number(environment.WORKGRAPH_PARENT_PID) || process.ppid };
}

/** For a new connection to PostgreSQL: far less than a request may take. */
const connectTimeoutMs = 3_000;

/** Of a transaction in which nothing happens: a server's own go on as fast as they are answered. */
const idleTransactionMs = 10_000;

/** Without those at its end. */
function withoutSlashes(text: string): string {
  let length = text.length;
  while (text[length - 1] === '/') length -= 1;
  return text.slice(0, length);
}
