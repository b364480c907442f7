import { defineCommand } from 'citty';
import type { SettingName } from '../server/config.ts';
import type { DatabaseCommand } from './environment.ts';
import { locationArgs } from './environment.ts';
import { refuseUnknownArguments, reportFailure } from './failures.ts';

const args = {
  port: { type: 'string', description: 'Where to listen (PORT, 4000)' },
  host: { type: 'string', description: 'On which address (HOST, 127.0.0.1)' },
  ...locationArgs,
  'public-url': {
    type: 'string',
    valueHint: 'url',
    description: 'Where clients reach the service (PUBLIC_URL)',
  },
  'storage-url': {
    type: 'string',
    valueHint: 'url',
    description: 'Where files are kept: file:, or an S3-compatible store (STORAGE_URL, DATA_DIR/files)',
  },
  'signing-keys': {
    type: 'string',
    description: 'Keys of signed addresses with commas; the first signs (SIGNING_KEYS, DATA_DIR/signing-key)',
  },
  'files-url': {
    type: 'string',
    valueHint: 'url',
    description: 'An origin that serves files alone (FILES_URL)',
  },
  'attachment-limit-bytes': {
    type: 'string',
    description: 'The largest attachment (ATTACHMENT_LIMIT_BYTES, 1 GiB)',
  },
  'requests-per-minute': {
    type: 'string',
    description: 'Requests of one token or address (REQUESTS_PER_MINUTE, 6000)',
  },
  'cost-per-hour': {
    type: 'string',
    description: 'Objects that one token or address is given (COST_PER_HOUR, 10000000)',
  },
  'max-operation-cost': {
    type: 'string',
    description: 'The largest cost of one operation (MAX_OPERATION_COST, 10000)',
  },
  'redis-url': {
    type: 'string',
    valueHint: 'url',
    description: 'Where several servers count their callers together (REDIS_URL, each by itself)',
  },
  'metrics-address': {
    type: 'string',
    valueHint: 'port|host:port',
    description: 'Where Prometheus finds /metrics (METRICS_ADDRESS, nowhere)',
  },
  'pool-size': {
    type: 'string',
    description: 'Connections to PostgreSQL (POOL_SIZE, 10)',
  },
  'max-concurrency': {
    type: 'string',
    description: 'Requests that are worked on at once (MAX_CONCURRENCY, 16)',
  },
  'queue-wait-ms': {
    type: 'string',
    description: 'How long a request may wait for its turn and for connections (QUEUE_WAIT_MS, 600)',
  },
  'request-timeout-ms': {
    type: 'string',
    description: 'How long a request may take in all (REQUEST_TIMEOUT_MS, 5500)',
  },
  'statement-timeout-ms': {
    type: 'string',
    description: 'How long a statement may take (STATEMENT_TIMEOUT_MS, 4000)',
  },
  'lock-timeout-ms': {
    type: 'string',
    description: 'How long a statement may wait for a lock (LOCK_TIMEOUT_MS, 450)',
  },
  'client-timeout-ms': {
    type: 'string',
    description: 'How long a client may take to send its headers, or a body (CLIENT_TIMEOUT_MS, 10000)',
  },
  'drain-ms': {
    type: 'string',
    description: 'How long readiness says no before a stop refuses connections (DRAIN_MS, 1000)',
  },
  'slow-statement-ms': {
    type: 'string',
    description: 'From how long on a statement has a line in the log (SLOW_STATEMENT_MS, 500)',
  },
  'listen-url': {
    type: 'string',
    valueHint: 'url',
    description: 'PostgreSQL past the pooler, for LISTEN (LISTEN_URL, DATABASE_URL)',
  },
  explorer: {
    type: 'string',
    valueHint: 'on|off',
    description: 'GraphiQL and the reference page (EXPLORER, on)',
  },
  introspection: {
    type: 'string',
    valueHint: 'public|tokens|off',
    description: 'Who may ask the schema about itself (INTROSPECTION, public)',
  },
  'cors-origins': {
    type: 'string',
    description: 'Origins whose pages may ask this server, with commas (CORS_ORIGINS, none)',
  },
  'trusted-proxies': {
    type: 'string',
    description: 'Addresses or networks of proxies that are believed, with commas (TRUSTED_PROXIES, none)',
  },
  prepared: {
    type: 'string',
    valueHint: 'on|off',
    description: 'Statements kept by name; off behind a transaction pooler (PREPARED, on)',
  },
  executor: {
    type: 'string',
    valueHint: 'compiled|reference',
    description: 'What answers queries (EXECUTOR, compiled)',
  },
  'graphql-path': {
    type: 'string',
    valueHint: 'direct|general',
    description: 'The way of a POST to /graphql (GRAPHQL_PATH, direct)',
  },
  documents: {
    type: 'string',
    valueHint: 'any|trusted',
    description: 'Which documents /graphql takes: any, or those of the manifest (DOCUMENTS, any)',
  },
  'documents-file': {
    type: 'string',
    valueHint: 'file',
    description: 'A manifest of documents, made by `workgraph manifest` (DOCUMENTS_FILE)',
  },
  'log-level': {
    type: 'string',
    description: 'fatal, error, warn, info, debug, trace or silent (LOG_LEVEL, info)',
  },
  migrate: {
    type: 'boolean',
    description: 'Bring an external database up to date first; the embedded one always is',
  },
  demo: {
    type: 'boolean',
    description: 'Fill an empty external database with the demo workspace; the embedded one always is',
    negativeDescription: 'Leave a new embedded database empty',
  },
} as const;

/** `workgraph serve`; a server that holds the embedded directory runs the commands that `findCommand` finds. */
export function serveCommand(findCommand: (name: string) => Promise<DatabaseCommand | undefined>) {
  return defineCommand({
    meta: { name: 'serve', description: 'Start the server (npm start)' },
    args,
    async run(context) {
      const exitCode = await reportFailure(async () => {
        refuseUnknownArguments(context.args, args);
        const { start } = await import('./start.ts');
        const { migrate, demo } = context.args;
        return start({ settings: settingsOf(context.args), migrate, demo, findCommand });
      });
      // Nothing may keep a process that has stopped serving.
      process.exit(exitCode);
    },
  });
}

function settingsOf(given: Record<string, unknown>): Partial<Record<SettingName, string>> {
  const settings = Object.keys(args).flatMap((flag) => {
    const value = given[flag];
    return typeof value === 'string' ? [[flag.toUpperCase().replaceAll('-', '_'), value]] : [];
  });
  return Object.fromEntries(settings);
}
