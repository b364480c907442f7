import { resolve } from 'node:path';
import { z } from 'zod';
import type { ExecutorName } from '../executor/execute.ts';
import { type AdmissionLimits, defaultAdmission } from './limits/admission.ts';
import { defaultOperationCost, defaultRates } from '../executor/limits.ts';
import { defaultMaxRows } from '../reference/limits.ts';
import { isNetwork } from './http/clients.ts';
import { isOrigin } from './http/cross-origin.ts';

/** What a server is told from outside; see docs and contract.md, "Running". */
export interface Config {
  readonly port: number;
  readonly host: string;
  readonly dataDir: string;
  /** PostgreSQL; the embedded database of `dataDir` when undefined. */
  readonly databaseUrl: string | undefined;
  /** Does PostgreSQL keep statements by name. */
  readonly prepared: boolean;
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
  readonly rates: { readonly requestsPerMinute: number; readonly costPerHour: number };
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
  /** How long readiness says no before connections are refused at a stop. */
  readonly drainMs: number;
  /** From how long on a statement has a line in the log. */
  readonly slowStatementMs: number;
  /** Are GraphiQL and the reference page there. */
  readonly explorer: boolean;
  /** Rows of reference data kept in memory at most, over all workspaces. */
  readonly referenceRows: number;
  /** Who may ask the schema about itself. */
  readonly introspection: Introspection;
  /** Origins whose pages may ask this server; no other may. */
  readonly corsOrigins: readonly string[];
  /** Addresses and networks whose word on host, protocol and client is taken. */
  readonly trustedProxies: readonly string[];
  /** Which executor answers queries. */
  readonly executor: ExecutorName;
  /** Which way a POST to `/graphql` goes: straight to the executor, or through Yoga as every GET does. */
  readonly graphqlPath: 'direct' | 'general';
  /** Which documents clients may send to `/graphql`: any, or those of the manifest alone. */
  readonly documents: 'any' | 'trusted';
  /** A manifest of documents that clients may name by their ids. */
  readonly documentsFile: string | undefined;
}

/** Everybody, those with a token, or nobody. */
export type Introspection = 'public' | 'tokens' | 'off';

export type LogLevel = z.infer<typeof logLevel>;

/** Settings as text, under the names that the environment and the flags share: `DATA_DIR` is `--data-dir`. */
export type Settings = Partial<Record<SettingName, string | undefined>>;
export type SettingName = keyof typeof shape;

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
  const named = names.map((name) => [name, flags[name] || environment[name] || undefined] as const);
  const parsed = settings.safeParse(Object.fromEntries(named));
  if (!parsed.success) {
    throw new ConfigError(
      parsed.error.issues.map(({ path: [name = ''], message }) => {
        const from = flags[name as SettingName] ? flagOf(String(name)) : String(name);
        return `${from} ${message}`;
      }),
    );
  }
  const { PORT, HOST, DATA_DIR, DATABASE_URL, PUBLIC_URL, LOG_LEVEL } = parsed.data;
  const { STORAGE_URL, SIGNING_KEYS, FILES_URL, ATTACHMENT_LIMIT_BYTES, EXPLORER } = parsed.data;
  const { EXECUTOR, GRAPHQL_PATH, PREPARED, METRICS_ADDRESS, DOCUMENTS, DOCUMENTS_FILE } = parsed.data;
  const { REFERENCE_ROWS } = parsed.data;
  const { INTROSPECTION, CORS_ORIGINS, TRUSTED_PROXIES } = parsed.data;
  const given = parsed.data;
  const { REQUESTS_PER_MINUTE, COST_PER_HOUR, MAX_OPERATION_COST, REDIS_URL } = parsed.data;
  return {
    port: PORT,
    host: HOST,
    dataDir: resolve(DATA_DIR),
    databaseUrl: DATABASE_URL,
    prepared: PREPARED,
    publicUrl: PUBLIC_URL && withoutSlashes(PUBLIC_URL),
    logLevel: LOG_LEVEL,
    storageUrl: STORAGE_URL,
    signingKeys: SIGNING_KEYS,
    filesUrl: FILES_URL && withoutSlashes(FILES_URL),
    attachmentLimitBytes: ATTACHMENT_LIMIT_BYTES,
    rates: { requestsPerMinute: REQUESTS_PER_MINUTE, costPerHour: COST_PER_HOUR },
    maxOperationCost: MAX_OPERATION_COST,
    redisUrl: REDIS_URL,
    metricsAddress: METRICS_ADDRESS,
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
    drainMs: given.DRAIN_MS,
    slowStatementMs: given.SLOW_STATEMENT_MS,
    explorer: EXPLORER,
    referenceRows: REFERENCE_ROWS,
    introspection: INTROSPECTION,
    corsOrigins: CORS_ORIGINS,
    trustedProxies: TRUSTED_PROXIES,
    executor: EXECUTOR,
    graphqlPath: GRAPHQL_PATH,
    documents: DOCUMENTS,
    documentsFile: DOCUMENTS_FILE,
  };
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const logLevel = z.enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` });

/** For a new connection to PostgreSQL: far less than a request may take. */
const connectTimeoutMs = 3_000;

/** Of a transaction in which nothing happens: a server's own go on as fast as they are answered. */
const idleTransactionMs = 10_000;

/** What the column of the size can hold. */
const mostAttachmentBytes = 2_147_483_647;
const attachmentLimit = `must be a number of bytes from 1 to ${mostAttachmentBytes}`;

const shape = {
  PORT: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port from 0 to 65535')
    .transform(Number)
    .refine((port) => port <= 65_535, 'must be a port from 0 to 65535')
    .default(4000),
  HOST: z.string().default('127.0.0.1'),
  DATA_DIR: z.string().default('.workgraph'),
  DATABASE_URL: url(
    ['postgres:', 'postgresql:'],
    'must be a URL such as postgres://user@host:5432/database',
  ).optional(),
  PUBLIC_URL: url(['http:', 'https:'], 'must be a URL such as https://work.example.com').optional(),
  LOG_LEVEL: logLevel.default('info'),
  STORAGE_URL: z
    .string()
    .refine(
      isStorageUrl,
      'must be a URL such as https://KEY:SECRET@s3.example.com/bucket or file:///srv/files',
    )
    .optional(),
  SIGNING_KEYS: listOf((key) => key.length >= 32, 'must be keys of 32 characters or more, with commas'),
  FILES_URL: url(['http:', 'https:'], 'must be a URL such as https://files.example.com').optional(),
  ATTACHMENT_LIMIT_BYTES: z
    .string()
    .regex(/^[1-9]\d{0,9}$/, attachmentLimit)
    .transform(Number)
    .refine((bytes) => bytes <= mostAttachmentBytes, attachmentLimit)
    .default(1_073_741_824),
  REQUESTS_PER_MINUTE: amount(defaultRates.requestsPerMinute),
  COST_PER_HOUR: amount(defaultRates.costPerHour),
  MAX_OPERATION_COST: amount(defaultOperationCost),
  REDIS_URL: url(['redis:', 'rediss:'], 'must be a URL such as redis://127.0.0.1:6379').optional(),
  METRICS_ADDRESS: z
    .string()
    .transform(addressOf)
    .refine((address) => address !== undefined, 'must be a port, or an address such as 127.0.0.1:9464')
    .optional(),
  REFERENCE_ROWS: amount(defaultMaxRows),
  POOL_SIZE: amount(10),
  MAX_CONCURRENCY: amount(defaultAdmission.maxConcurrency),
  QUEUE_WAIT_MS: amount(defaultAdmission.queueWaitMs),
  REQUEST_TIMEOUT_MS: amount(defaultAdmission.requestTimeoutMs),
  STATEMENT_TIMEOUT_MS: amount(4_000),
  LOCK_TIMEOUT_MS: amount(450),
  SLOW_STATEMENT_MS: amount(500),
  CLIENT_TIMEOUT_MS: amount(10_000),
  DRAIN_MS: z
    .string()
    .regex(/^[0-7]?\d{1,3}$/, 'must be a number of milliseconds from 0 to 7999')
    .transform(Number)
    .default(1_000),
  LISTEN_URL: url(
    ['postgres:', 'postgresql:'],
    'must be a URL such as postgres://user@host:5432/database',
  ).optional(),
  EXPLORER: onOrOff(),
  INTROSPECTION: z
    .enum(['public', 'tokens', 'off'], { error: 'must be public, tokens or off' })
    .default('public'),
  CORS_ORIGINS: listOf(isOrigin, 'must be origins such as https://app.example.com, with commas'),
  TRUSTED_PROXIES: listOf(isNetwork, 'must be addresses or networks such as 10.0.0.0/8, with commas'),
  PREPARED: onOrOff(),
  EXECUTOR: z.enum(['compiled', 'reference'], { error: 'must be compiled or reference' }).default('compiled'),
  GRAPHQL_PATH: z.enum(['direct', 'general'], { error: 'must be direct or general' }).default('direct'),
  DOCUMENTS: z.enum(['any', 'trusted'], { error: 'must be any or trusted' }).default('any'),
  DOCUMENTS_FILE: z.string().optional(),
};
const settings = z
  .object(shape)
  .refine(({ FILES_URL, PUBLIC_URL }) => !isSameHost(FILES_URL, PUBLIC_URL), {
    path: ['FILES_URL'],
    error: 'must be another origin than PUBLIC_URL',
  })
  .refine(({ DOCUMENTS, DOCUMENTS_FILE }) => DOCUMENTS === 'any' || DOCUMENTS_FILE !== undefined, {
    path: ['DOCUMENTS_FILE'],
    error: 'must name the manifest when DOCUMENTS is trusted',
  });
const names = Object.keys(shape) as SettingName[];

function listOf(fits: (item: string) => boolean, message: string) {
  return z
    .string()
    .transform((text) => text.split(',').map((item) => item.trim()))
    .refine((items) => items.every(fits), message)
    .default([]);
}

function onOrOff() {
  return z
    .enum(['on', 'off'], { error: 'must be on or off' })
    .default('on')
    .transform((value) => value === 'on');
}

/** A limit; one of 2^31 would not fit GraphQL's numbers. */
function amount(standard: number) {
  return z
    .string()
    .regex(/^[1-9]\d{0,8}$|^1000000000$/, 'must be a whole number from 1 to 1000000000')
    .transform(Number)
    .default(standard);
}

/** `9464`, `10.0.0.7:9464`, `[::1]:9464`; undefined for anything else. */
function addressOf(text: string): { host: string; port: number } | undefined {
  const [, host = '127.0.0.1', port = ''] = /^(?:(\[[\da-f:]+\]|[^:\s]+):)?(\d{1,5})$/i.exec(text) ?? [];
  const isPort = port !== '' && Number(port) <= 65_535;
  return isPort ? { host: host.replace(/^\[|\]$/g, ''), port: Number(port) } : undefined;
}

/** Without those at its end. */
function withoutSlashes(text: string): string {
  let length = text.length;
  while (text[length - 1] === '/') length -= 1;
  return text.slice(0, length);
}

function url(protocols: readonly string[], message: string) {
  return z
    .string()
    .max(1_000, 'must have at most 1,000 characters')
    .refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), message);
}

/** A directory, or a bucket with the credentials that it is used with. */
function isStorageUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host, username, password } = new URL(text);
  if (protocol === 'file:') return host === '';
  return (protocol === 'http:' || protocol === 'https:') && username !== '' && password !== '';
}

/** What is no URL is said elsewhere. */
function isSameHost(one: string | undefined, other: string | undefined): boolean {
  if (!one || !other || !URL.canParse(one) || !URL.canParse(other)) return false;
  return new URL(one).host === new URL(other).host;
}

function flagOf(name: string): string {
  return `--${name.toLowerCase().replaceAll('_', '-')}`;
}
