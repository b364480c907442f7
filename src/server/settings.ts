import { defaultReadBudget } from '../db/query/read-bounds.ts';
import { defaultOperationCost, defaultRates } from '../executor/limits.ts';
import { defaultStreams } from '../live/stream-limits.ts';
import { maxInt32 } from '../model/int32.ts';
import { defaultMaxRows } from '../reference/limits.ts';
import { defaultUnsentBytes } from './http/unsent.ts';
import { defaultAdmission } from './limits/admission.ts';
import { amount, integer, type Setting, type ValueOf } from './setting-kinds.ts';

/**
 * Every setting, declared once. The flags of `serve`, their help, the validation and the types follow from this table,
 * and a test compares the table in README.md with it. It loads no package, so that the help of a command is quick.
 */
export const settings = {
  PORT: { group: 'address', kind: 'port', default: 4000, help: 'The port to listen on' },
  HOST: { group: 'address', kind: 'text', default: '127.0.0.1', help: 'The address to listen on' },
  PUBLIC_URL: {
    group: 'address',
    kind: 'url',
    protocols: ['http:', 'https:'],
    rule: 'must be a URL such as https://work.example.com',
    help: 'The URL at which clients reach the service',
  },
  TRUSTED_PROXIES: {
    group: 'address',
    kind: 'list',
    items: 'networks',
    rule: 'must be addresses or networks such as 10.0.0.0/8, separated by commas',
    help: 'Addresses or networks of trusted proxies, separated by commas',
    shownDefault: 'none',
  },
  CORS_ORIGINS: {
    group: 'address',
    kind: 'list',
    items: 'origins',
    rule: 'must be origins such as https://app.example.com, separated by commas',
    help: 'Origins whose pages may call this server, separated by commas',
    shownDefault: 'none',
  },
  DATA_DIR: {
    group: 'database',
    kind: 'text',
    default: '.workgraph',
    valueHint: 'directory',
    help: 'The data directory',
  },
  DATABASE_URL: {
    group: 'database',
    kind: 'url',
    protocols: ['postgres:', 'postgresql:'],
    rule: 'must be a URL such as postgres://user@host:5432/database',
    help: 'PostgreSQL instead of the embedded database',
  },
  READ_DATABASE_URLS: {
    group: 'database',
    kind: 'list',
    items: 'databases',
    rule: 'must be URLs such as postgres://user@replica:5432/database, separated by commas',
    valueHint: 'urls',
    help: 'Streaming replicas of PostgreSQL that answer queries, separated by commas',
    shownDefault: 'none',
  },
  WORKERS: {
    group: 'database',
    kind: 'workers',
    default: 1,
    valueHint: 'auto|n',
    help: 'Processes that share the port and PostgreSQL; auto for one per core',
  },
  POOL_SIZE: {
    group: 'database',
    ...amount,
    default: 10,
    help: 'Connections to PostgreSQL',
  },
  PREPARED: {
    group: 'database',
    kind: 'switch',
    default: true,
    help: 'Whether prepared statements are kept; turn off behind a transaction pooler',
  },
  WIRE: {
    group: 'database',
    kind: 'choice',
    values: ['fast', 'plain'],
    default: 'fast',
    help: 'How rows are read from PostgreSQL',
  },
  LISTEN_URL: {
    group: 'database',
    kind: 'url',
    protocols: ['postgres:', 'postgresql:'],
    rule: 'must be a URL such as postgres://user@host:5432/database',
    help: 'PostgreSQL itself, for LISTEN, if DATABASE_URL points to a pooler',
    shownDefault: 'DATABASE_URL',
  },
  REFERENCE_ROWS: {
    group: 'database',
    ...amount,
    default: defaultMaxRows,
    help: 'Maximum number of rows of reference data in memory',
  },
  WRITE_BATCHING: {
    group: 'database',
    kind: 'switch',
    default: true,
    help: 'Writes that can go together share a statement',
  },
  STORAGE_URL: {
    group: 'files',
    kind: 'store',
    valueHint: 'url',
    help: 'Where files are stored: file:, or an S3-compatible store',
    shownDefault: 'DATA_DIR/files',
  },
  SIGNING_KEYS: {
    group: 'files',
    kind: 'list',
    items: 'keys',
    rule: 'must be keys of 32 characters or more, separated by commas',
    help: 'Keys of signed URLs and of the secrets of webhooks, separated by commas; the first signs',
    shownDefault: 'DATA_DIR/signing-key',
  },
  FILES_URL: {
    group: 'files',
    kind: 'url',
    protocols: ['http:', 'https:'],
    rule: 'must be a URL such as https://files.example.com',
    help: 'An origin that serves only files',
  },
  ATTACHMENT_LIMIT_BYTES: {
    group: 'files',
    // The largest size that the column can store.
    ...integer(1, maxInt32, 'bytes'),
    default: 1_073_741_824,
    help: 'The largest attachment',
    shownDefault: '1 GiB',
  },
  REQUESTS_PER_MINUTE: {
    group: 'limits',
    ...amount,
    default: defaultRates.requestsPerMinute,
    help: 'Requests of one token or address per minute',
  },
  COST_PER_HOUR: {
    group: 'limits',
    ...amount,
    default: defaultRates.costPerHour,
    help: 'Objects in answers to one token or address per hour',
  },
  UNKNOWN_TOKENS_PER_MINUTE: {
    group: 'limits',
    ...amount,
    default: defaultRates.unknownTokensPerMinute,
    help: 'Unknown tokens of one address that are looked up per minute',
  },
  MAX_OPERATION_COST: {
    group: 'limits',
    ...amount,
    default: defaultOperationCost,
    help: 'The largest cost of one operation',
  },
  READ_BUDGET: {
    group: 'limits',
    ...amount,
    default: defaultReadBudget,
    help: 'Rows that a page of a filtered list, or its total, may examine before it ends early',
  },
  REDIS_URL: {
    group: 'limits',
    kind: 'url',
    protocols: ['redis:', 'rediss:'],
    rule: 'must be a URL such as redis://127.0.0.1:6379',
    help: 'A Redis in which several servers share their rate limits',
    shownDefault: 'each by itself',
  },
  MAX_CONCURRENCY: {
    group: 'limits',
    ...amount,
    default: defaultAdmission.maxConcurrency,
    help: 'Requests that are in progress at once',
  },
  QUEUE_WAIT_MS: {
    group: 'limits',
    ...amount,
    default: defaultAdmission.queueWaitMs,
    help: 'How long a request may wait for admission and for database connections',
  },
  REQUEST_TIMEOUT_MS: {
    group: 'limits',
    ...amount,
    default: defaultAdmission.requestTimeoutMs,
    help: 'How long a request may take in total',
  },
  STATEMENT_TIMEOUT_MS: {
    group: 'limits',
    ...amount,
    default: 4_000,
    help: 'How long a statement may take',
  },
  LOCK_TIMEOUT_MS: {
    group: 'limits',
    ...amount,
    default: 450,
    help: 'How long a statement may wait for a lock',
  },
  CLIENT_TIMEOUT_MS: {
    group: 'limits',
    ...amount,
    default: 10_000,
    help: 'How long a client may take to send its headers, or a body',
  },
  UNSENT_LIMIT_BYTES: {
    group: 'limits',
    ...amount,
    default: defaultUnsentBytes,
    help: 'Bytes of answers that wait for clients to read them',
    shownDefault: '64 MiB',
  },
  CHANGES_DAYS: {
    group: 'live',
    ...integer(1, 90, 'days'),
    default: 7,
    help: 'For how many days the log of changes is kept',
  },
  STREAMS: {
    group: 'live',
    ...amount,
    default: defaultStreams.streams,
    help: 'Streams and requests that wait for changes at once',
  },
  STREAMS_PER_TOKEN: {
    group: 'live',
    ...amount,
    default: defaultStreams.perToken,
    help: 'Streams and waiting requests of one token at once',
  },
  CHANGES_WAIT_MS: {
    group: 'live',
    ...amount,
    default: defaultStreams.waitMs,
    help: 'The longest that a request waits for changes, whatever it asks for',
  },
  WEBHOOK_NETWORKS: {
    group: 'live',
    kind: 'list',
    items: 'networks',
    rule: 'must be addresses or networks such as 10.0.0.0/8, separated by commas',
    help: 'Private networks to which webhooks may be sent, over http as well, separated by commas',
    shownDefault: 'none',
  },
  EXPLORER: {
    group: 'pages',
    kind: 'switch',
    default: true,
    help: 'GraphiQL, the reference and all other pages except the start page',
  },
  INTROSPECTION: {
    group: 'pages',
    kind: 'choice',
    values: ['public', 'tokens', 'off'],
    default: 'public',
    help: 'Who may use introspection',
  },
  DOCUMENTS: {
    group: 'pages',
    kind: 'choice',
    values: ['any', 'trusted'],
    default: 'any',
    help: 'Which documents /graphql accepts: any, or only those of the manifest',
  },
  DOCUMENTS_FILE: {
    group: 'pages',
    kind: 'text',
    valueHint: 'file',
    help: 'A manifest of documents, made by `npx workgraph manifest`',
  },
  EXECUTOR: {
    group: 'pages',
    kind: 'choice',
    values: ['compiled', 'graphql-js'],
    default: 'compiled',
    deprecated: { reference: 'graphql-js' },
    help: 'Which executor answers operations',
  },
  GRAPHQL_PATH: {
    group: 'pages',
    kind: 'choice',
    values: ['direct', 'general'],
    default: 'direct',
    help: 'How a POST to /graphql is answered: directly, or through Yoga',
  },
  LOG_LEVEL: {
    group: 'observability',
    kind: 'choice',
    values: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    default: 'info',
    valueHint: 'level',
    help: 'The lowest level of messages that are logged: fatal, error, warn, info, debug, trace or silent',
  },
  METRICS_ADDRESS: {
    group: 'observability',
    kind: 'address',
    valueHint: 'port|host:port',
    help: 'The address of /metrics for Prometheus',
    shownDefault: 'nowhere',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    group: 'observability',
    kind: 'url',
    protocols: ['http:', 'https:'],
    rule: 'must be a URL such as http://127.0.0.1:4318',
    help: 'The OpenTelemetry collector that traces are sent to, by OTLP over HTTP',
    shownDefault: 'nowhere',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    group: 'observability',
    kind: 'fraction',
    default: 1,
    valueHint: '0 to 1',
    help: 'The fraction of requests that are traced where the caller has not decided',
  },
  OTEL_SERVICE_NAME: {
    group: 'observability',
    kind: 'text',
    default: 'workgraph',
    help: 'The name of this service in traces',
  },
  SLOW_STATEMENT_MS: {
    group: 'observability',
    ...amount,
    default: 500,
    help: 'Statements that take this long are logged',
  },
  DRAIN_MS: {
    group: 'observability',
    ...integer(0, 7_999, 'milliseconds'),
    default: 1_000,
    help: 'How long readiness fails before a stopping server refuses connections',
  },
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof settings;
export type SettingValues = { readonly [Name in SettingName]: ValueOf<(typeof settings)[Name]> };
export type LogLevel = SettingValues['LOG_LEVEL'];

export const settingNames = Object.keys(settings) as SettingName[];
