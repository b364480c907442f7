import { defaultReadBudget } from '../db/query/read-bounds.ts';
import { defaultOperationCost, defaultRates } from '../executor/limits.ts';
import { defaultStreams } from '../live/stream-limits.ts';
import { defaultMaxRows } from '../reference/limits.ts';
import { defaultUnsentBytes } from './http/unsent.ts';
import { defaultAdmission } from './limits/admission.ts';
import type { Setting, ValueOf } from './setting-kinds.ts';

/**
 * Every setting, declared once. The flags of `serve`, their help, the validation and the types follow from this table,
 * and a test compares the table in README.md with it. It loads no package, so that the help of a command is quick.
 */
export const settings = {
  PORT: {
    kind: 'port',
    default: 4000,
    help: 'The port to listen on',
  },
  HOST: {
    kind: 'text',
    default: '127.0.0.1',
    help: 'The address to listen on',
  },
  DATA_DIR: {
    kind: 'text',
    default: '.workgraph',
    valueHint: 'directory',
    help: 'The data directory',
  },
  DATABASE_URL: {
    kind: 'url',
    protocols: ['postgres:', 'postgresql:'],
    rule: 'must be a URL such as postgres://user@host:5432/database',
    valueHint: 'url',
    help: 'PostgreSQL instead of the embedded database',
  },
  WORKERS: {
    kind: 'workers',
    default: 1,
    valueHint: 'auto|n',
    help: 'Processes that share the port and PostgreSQL; auto for one per core',
  },
  PUBLIC_URL: {
    kind: 'url',
    protocols: ['http:', 'https:'],
    rule: 'must be a URL such as https://work.example.com',
    valueHint: 'url',
    help: 'The URL at which clients reach the service',
  },
  STORAGE_URL: {
    kind: 'store',
    valueHint: 'url',
    help: 'Where files are stored: file:, or an S3-compatible store',
    shownDefault: 'DATA_DIR/files',
  },
  SIGNING_KEYS: {
    kind: 'list',
    of: 'keys',
    rule: 'must be keys of 32 characters or more, with commas',
    help: 'Keys of signed URLs, separated by commas; the first signs',
    shownDefault: 'DATA_DIR/signing-key',
  },
  FILES_URL: {
    kind: 'url',
    protocols: ['http:', 'https:'],
    rule: 'must be a URL such as https://files.example.com',
    valueHint: 'url',
    help: 'An origin that serves only files',
  },
  ATTACHMENT_LIMIT_BYTES: {
    kind: 'attachment size',
    default: 1_073_741_824,
    help: 'The largest attachment',
    shownDefault: '1 GiB',
  },
  REQUESTS_PER_MINUTE: {
    kind: 'amount',
    default: defaultRates.requestsPerMinute,
    help: 'Requests of one token or address per minute',
  },
  COST_PER_HOUR: {
    kind: 'amount',
    default: defaultRates.costPerHour,
    help: 'Objects in answers to one token or address per hour',
  },
  UNKNOWN_TOKENS_PER_MINUTE: {
    kind: 'amount',
    default: defaultRates.unknownTokensPerMinute,
    help: 'Unknown tokens of one address that are looked up per minute',
  },
  MAX_OPERATION_COST: {
    kind: 'amount',
    default: defaultOperationCost,
    help: 'The largest cost of one operation',
  },
  REDIS_URL: {
    kind: 'url',
    protocols: ['redis:', 'rediss:'],
    rule: 'must be a URL such as redis://127.0.0.1:6379',
    valueHint: 'url',
    help: 'A Redis in which several servers share their rate limits',
    shownDefault: 'each by itself',
  },
  REFERENCE_ROWS: {
    kind: 'amount',
    default: defaultMaxRows,
    help: 'Most rows of reference data in memory',
  },
  CHANGES_DAYS: {
    kind: 'days',
    default: 7,
    help: 'For how many days the log of changes is kept',
  },
  STREAMS: {
    kind: 'amount',
    default: defaultStreams.streams,
    help: 'Streams and requests that wait for changes at once',
  },
  STREAMS_PER_TOKEN: {
    kind: 'amount',
    default: defaultStreams.perToken,
    help: 'Those of one token',
  },
  CHANGES_WAIT_MS: {
    kind: 'amount',
    default: defaultStreams.waitMs,
    help: 'How long a request waits for changes at most, whatever it asks for',
  },
  WEBHOOK_NETWORKS: {
    kind: 'list',
    of: 'networks',
    rule: 'must be addresses or networks such as 10.0.0.0/8, with commas',
    help: 'Networks that are not public and may be sent webhooks, also over http, separated by commas',
    shownDefault: 'none',
  },
  METRICS_ADDRESS: {
    kind: 'address',
    valueHint: 'port|host:port',
    help: 'The address of /metrics for Prometheus',
    shownDefault: 'nowhere',
  },
  POOL_SIZE: {
    kind: 'amount',
    default: 10,
    help: 'Connections to PostgreSQL',
  },
  MAX_CONCURRENCY: {
    kind: 'amount',
    default: defaultAdmission.maxConcurrency,
    help: 'Requests that are in progress at once',
  },
  QUEUE_WAIT_MS: {
    kind: 'amount',
    default: defaultAdmission.queueWaitMs,
    help: 'How long a request may wait for admission and for database connections',
  },
  REQUEST_TIMEOUT_MS: {
    kind: 'amount',
    default: defaultAdmission.requestTimeoutMs,
    help: 'How long a request may take in total',
  },
  STATEMENT_TIMEOUT_MS: {
    kind: 'amount',
    default: 4_000,
    help: 'How long a statement may take',
  },
  LOCK_TIMEOUT_MS: {
    kind: 'amount',
    default: 450,
    help: 'How long a statement may wait for a lock',
  },
  CLIENT_TIMEOUT_MS: {
    kind: 'amount',
    default: 10_000,
    help: 'How long a client may take to send its headers, or a body',
  },
  UNSENT_LIMIT_BYTES: {
    kind: 'amount',
    default: defaultUnsentBytes,
    help: 'Bytes of answers that wait for clients to read them',
    shownDefault: '64 MiB',
  },
  DRAIN_MS: {
    kind: 'drain',
    default: 1_000,
    help: 'How long readiness fails before a stopping server refuses connections',
  },
  SLOW_STATEMENT_MS: {
    kind: 'amount',
    default: 500,
    help: 'Statements that take this long are logged',
  },
  PREPARED: {
    kind: 'switch',
    default: true,
    valueHint: 'on|off',
    help: 'Prepared statements are kept; off behind a transaction pooler',
  },
  READ_BUDGET: {
    kind: 'amount',
    default: defaultReadBudget,
    help: 'Rows that a page of a filtered list, or its total, may look at before it ends early',
  },
  WRITE_BATCHING: {
    kind: 'switch',
    default: true,
    valueHint: 'on|off',
    help: 'Writes that can go together share a statement',
  },
  LISTEN_URL: {
    kind: 'url',
    protocols: ['postgres:', 'postgresql:'],
    rule: 'must be a URL such as postgres://user@host:5432/database',
    valueHint: 'url',
    help: 'PostgreSQL itself, for LISTEN, if DATABASE_URL is a pooler',
    shownDefault: 'DATABASE_URL',
  },
  EXPLORER: {
    kind: 'switch',
    default: true,
    valueHint: 'on|off',
    help: 'GraphiQL, the reference and all other pages but the first',
  },
  INTROSPECTION: {
    kind: 'choice',
    values: ['public', 'tokens', 'off'],
    default: 'public',
    valueHint: 'public|tokens|off',
    help: 'Who may use introspection',
  },
  CORS_ORIGINS: {
    kind: 'list',
    of: 'origins',
    rule: 'must be origins such as https://app.example.com, with commas',
    help: 'Origins whose pages may call this server, separated by commas',
    shownDefault: 'none',
  },
  TRUSTED_PROXIES: {
    kind: 'list',
    of: 'networks',
    rule: 'must be addresses or networks such as 10.0.0.0/8, with commas',
    help: 'Addresses or networks of trusted proxies, separated by commas',
    shownDefault: 'none',
  },
  EXECUTOR: {
    kind: 'choice',
    values: ['compiled', 'graphql-js'],
    default: 'compiled',
    deprecated: { reference: 'graphql-js' },
    valueHint: 'compiled|graphql-js',
    help: 'Which executor answers operations',
  },
  WIRE: {
    kind: 'choice',
    values: ['fast', 'plain'],
    default: 'fast',
    valueHint: 'fast|plain',
    help: 'How rows are read from PostgreSQL',
  },
  GRAPHQL_PATH: {
    kind: 'choice',
    values: ['direct', 'general'],
    default: 'direct',
    valueHint: 'direct|general',
    help: 'How a POST to /graphql is answered: directly, or through Yoga',
  },
  DOCUMENTS: {
    kind: 'choice',
    values: ['any', 'trusted'],
    default: 'any',
    valueHint: 'any|trusted',
    help: 'Which documents /graphql accepts: any, or only those of the manifest',
  },
  DOCUMENTS_FILE: {
    kind: 'text',
    valueHint: 'file',
    help: 'A manifest of documents, made by `npx workgraph manifest`',
  },
  LOG_LEVEL: {
    kind: 'choice',
    values: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    default: 'info',
    help: 'fatal, error, warn, info, debug, trace or silent',
  },
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof settings;
export type SettingValues = { readonly [Name in SettingName]: ValueOf<(typeof settings)[Name]> };
export type LogLevel = SettingValues['LOG_LEVEL'];

export const settingNames = Object.keys(settings) as SettingName[];

/** The flag of a setting, without the dashes: `data-dir` of `DATA_DIR`. */
type FlagName<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}-${FlagName<Rest>}`
  : Lowercase<Name>;

interface Flag {
  readonly type: 'string';
  readonly description: string;
  readonly valueHint?: string;
}

/** The flags of these settings, as citty declares them. */
export function flagsOf<Name extends SettingName>(names: readonly Name[]): Record<FlagName<Name>, Flag> {
  const flags = names.map((name) => {
    const { help, valueHint }: Setting = settings[name];
    const origin = [name, shownDefaultOf(settings[name])].filter((part) => part !== undefined).join(', ');
    const flag: Flag = {
      type: 'string',
      description: `${help} (${origin})`,
      ...(valueHint && { valueHint }),
    };
    return [flagNameOf(name), flag] as const;
  });
  return Object.fromEntries(flags) as Record<FlagName<Name>, Flag>;
}

/** The name of a setting's flag, without the dashes. */
export function flagNameOf(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

function shownDefaultOf(setting: Setting): string | undefined {
  if (setting.shownDefault !== undefined) return setting.shownDefault;
  const standard = 'default' in setting ? setting.default : undefined;
  if (typeof standard === 'boolean') return standard ? 'on' : 'off';
  return standard === undefined ? undefined : String(standard);
}
