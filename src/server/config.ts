import { resolve } from 'node:path';
import type { WireName } from '../db/wire/postgres-wire.ts';
import { asSentence } from '../model/sentences.ts';
import type { StreamLimits } from '../live/stream-limits.ts';
import type { ExecutorName } from '../executor/run/execute.ts';
import type { AdmissionLimits } from './limits/admission.ts';
import { settingsSchema } from './setting-schemas.ts';
import { flagNameOf } from './setting-flags.ts';
import { readSettings } from './process-environment.ts';
import type { LogLevel, SettingName } from './settings.ts';

/** The settings of a server, read and checked. README.md describes them. */
export interface Config {
  readonly port: number;
  readonly host: string;
  readonly dataDir: string;
  /** The URL of PostgreSQL; the embedded database in `dataDir` when undefined. */
  readonly databaseUrl: string | undefined;
  /** Streaming replicas of that database, which answer queries. */
  readonly readDatabaseUrls: readonly string[];
  /** How many processes share the port: `auto` for one per core. */
  readonly workers: number | 'auto';
  /** Whether database connections keep prepared statements. */
  readonly prepared: boolean;
  /** How statements are sent to PostgreSQL and their rows are read. */
  readonly wire: WireName;
  /** The URL at which clients reach the service, without a trailing slash; from host and port when undefined. */
  readonly publicUrl: string | undefined;
  readonly logLevel: LogLevel;
  /** Where files are stored: `file:`, or an S3-compatible store with `http:` or `https:`; in `dataDir` when undefined. */
  readonly storageUrl: string | undefined;
  /** The first key signs the URLs of files, and all keys verify them. Empty for the key in `dataDir`. */
  readonly signingKeys: readonly string[];
  /** An origin that serves only files, without a trailing slash. */
  readonly filesUrl: string | undefined;
  readonly attachmentLimitBytes: number;
  /** The rate limits of each caller. */
  readonly rates: {
    readonly requestsPerMinute: number;
    readonly costPerHour: number;
    /** How many invalid tokens of one address are looked up in the database. */
    readonly unknownTokensPerMinute: number;
  };
  readonly maxOperationCost: number;
  /** The Redis in which several processes share their rate limits; each process counts by itself when undefined. */
  readonly redisUrl: string | undefined;
  /** Where traces are sent; there are none when undefined. */
  readonly tracing:
    | { readonly endpoint: string; readonly fraction: number; readonly serviceName: string }
    | undefined;
  /** The address of `/metrics`; there are no metrics when undefined. */
  readonly metricsAddress: { readonly host: string; readonly port: number } | undefined;
  readonly admission: AdmissionLimits;
  /** How the server uses PostgreSQL. Commands have more time. */
  readonly pool: {
    readonly poolSize: number;
    readonly statementTimeoutMs: number;
    readonly lockTimeoutMs: number;
    readonly connectTimeoutMs: number;
    readonly idleTransactionMs: number;
    readonly waitMs: number;
  };
  /** The URL of PostgreSQL for LISTEN, if `databaseUrl` is a pooler; `databaseUrl` when undefined. */
  readonly listenUrl: string | undefined;
  /** How long a client may take for its headers, for a body, and between two chunks of a file. */
  readonly clientTimeoutMs: number;
  /** How many bytes of answers may wait for clients to read them, over all connections. */
  readonly unsentBytes: number;
  /** How long readiness fails before a stopping server refuses connections. */
  readonly drainMs: number;
  /** Statements that take this long are logged. */
  readonly slowStatementMs: number;
  /** Whether GraphiQL, the reference and the pages that read the graph are served. */
  readonly explorer: boolean;
  /** How many rows of reference data are cached in memory, over all workspaces. */
  readonly referenceRows: number;
  /** The number of days for which the log keeps changes. */
  readonly changesDays: number;
  /** How many streams and requests that wait for changes there may be at once. */
  readonly streams: StreamLimits;
  /** Networks that may receive webhooks although they are not public. */
  readonly webhookNetworks: readonly string[];
  /** Who may use introspection. */
  readonly introspection: Introspection;
  /** The origins whose pages may call this server. */
  readonly corsOrigins: readonly string[];
  /** The proxies whose headers about host, protocol and client are believed. */
  readonly trustedProxies: readonly string[];
  /** Which executor answers queries. */
  readonly executor: ExecutorName;
  /** Whether writes of several requests may share a statement. */
  readonly writeBatching: boolean;
  readonly readBudget: number;
  /** How a POST to `/graphql` is answered: directly by the executor, or through Yoga as a GET is. */
  readonly graphqlPath: 'direct' | 'general';
  /** Which documents clients may send to `/graphql`: any, or only those of the manifest. */
  readonly documents: 'any' | 'trusted';
  /** The file with the manifest of documents that clients may name by their ids. */
  readonly documentsFile: string | undefined;
}

/** Who may use introspection: everybody, callers with a token, or nobody. */
export type Introspection = 'public' | 'tokens' | 'off';

/** Settings as text, by the names of the environment variables. The flag of `DATA_DIR` is `--data-dir`. */
export type Settings = Partial<Record<SettingName, string | undefined>>;

/** The settings are invalid. `problems` has a sentence for each invalid setting. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Reads settings from flags, then from the environment. An empty value counts as not set. Throws ConfigError. */
export function readConfig(flags: Settings = {}, environment?: NodeJS.ProcessEnv): Config {
  const parsed = settingsSchema.safeParse(readSettings(flags, environment));
  if (!parsed.success) {
    throw new ConfigError(
      parsed.error.issues.map(({ path: [name = ''], message }) => {
        const source = flags[name as SettingName] ? `--${flagNameOf(String(name))}` : String(name);
        return asSentence(`${source} ${message}`);
      }),
    );
  }
  const values = parsed.data;
  return {
    port: values.PORT,
    host: values.HOST,
    dataDir: resolve(values.DATA_DIR),
    databaseUrl: values.DATABASE_URL,
    readDatabaseUrls: values.READ_DATABASE_URLS,
    workers: values.WORKERS,
    prepared: values.PREPARED,
    wire: values.WIRE,
    publicUrl: values.PUBLIC_URL && withoutSlashes(values.PUBLIC_URL),
    logLevel: values.LOG_LEVEL,
    storageUrl: values.STORAGE_URL,
    signingKeys: values.SIGNING_KEYS,
    filesUrl: values.FILES_URL && withoutSlashes(values.FILES_URL),
    attachmentLimitBytes: values.ATTACHMENT_LIMIT_BYTES,
    rates: {
      requestsPerMinute: values.REQUESTS_PER_MINUTE,
      costPerHour: values.COST_PER_HOUR,
      unknownTokensPerMinute: values.UNKNOWN_TOKENS_PER_MINUTE,
    },
    maxOperationCost: values.MAX_OPERATION_COST,
    redisUrl: values.REDIS_URL,
    metricsAddress: values.METRICS_ADDRESS,
    tracing:
      values.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
        ? undefined
        : {
            endpoint: withoutSlashes(values.OTEL_EXPORTER_OTLP_ENDPOINT),
            fraction: values.OTEL_TRACES_SAMPLER_ARG,
            serviceName: values.OTEL_SERVICE_NAME,
          },
    admission: {
      maxConcurrency: values.MAX_CONCURRENCY,
      queueWaitMs: values.QUEUE_WAIT_MS,
      requestTimeoutMs: values.REQUEST_TIMEOUT_MS,
    },
    pool: {
      poolSize: values.POOL_SIZE,
      statementTimeoutMs: values.STATEMENT_TIMEOUT_MS,
      lockTimeoutMs: values.LOCK_TIMEOUT_MS,
      connectTimeoutMs,
      idleTransactionMs,
      waitMs: values.QUEUE_WAIT_MS,
    },
    listenUrl: values.LISTEN_URL,
    clientTimeoutMs: values.CLIENT_TIMEOUT_MS,
    unsentBytes: values.UNSENT_LIMIT_BYTES,
    drainMs: values.DRAIN_MS,
    slowStatementMs: values.SLOW_STATEMENT_MS,
    explorer: values.EXPLORER,
    referenceRows: values.REFERENCE_ROWS,
    changesDays: values.CHANGES_DAYS,
    streams: { streams: values.STREAMS, perToken: values.STREAMS_PER_TOKEN, waitMs: values.CHANGES_WAIT_MS },
    webhookNetworks: values.WEBHOOK_NETWORKS,
    introspection: values.INTROSPECTION,
    corsOrigins: values.CORS_ORIGINS,
    trustedProxies: values.TRUSTED_PROXIES,
    executor: values.EXECUTOR,
    writeBatching: values.WRITE_BATCHING,
    readBudget: values.READ_BUDGET,
    graphqlPath: values.GRAPHQL_PATH,
    documents: values.DOCUMENTS,
    documentsFile: values.DOCUMENTS_FILE,
  };
}

/** How long opening a database connection may take: far less than a request may take. */
const connectTimeoutMs = 3_000;

/** How long a transaction may be idle. A server continues its transactions as soon as a statement is answered. */
const idleTransactionMs = 10_000;

/** Removes trailing slashes. */
function withoutSlashes(text: string): string {
  let length = text.length;
  while (text[length - 1] === '/') length -= 1;
  return text.slice(0, length);
}
