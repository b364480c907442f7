import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { ConfigError, readConfig } from '../../src/server/config.ts';
import { soleDataDir } from '../../src/server/process-environment.ts';

it('the configuration has a default for everything', () => {
  expect(readConfig({}, {})).toMatchObject({
    port: 4000,
    host: '127.0.0.1',
    dataDir: join(process.cwd(), '.workgraph'),
    databaseUrl: undefined,
    publicUrl: undefined,
    logLevel: 'info',
    explorer: true,
    introspection: 'public',
    corsOrigins: [],
    trustedProxies: [],
    prepared: true,
    executor: 'compiled',
    graphqlPath: 'direct',
    documents: 'any',
    documentsFile: undefined,
    rates: { requestsPerMinute: 6_000, costPerHour: 10_000_000, unknownTokensPerMinute: 600 },
    maxOperationCost: 10_000,
    unsentBytes: 67_108_864,
    redisUrl: undefined,
    metricsAddress: undefined,
  });
});

it('the configuration takes flags before the environment, and the empty for nothing', () => {
  const environment = {
    PORT: '1',
    HOST: '',
    DATABASE_URL: 'postgres://a@b/c',
    PUBLIC_URL: 'https://x.example/',
  };
  expect(readConfig({ PORT: '2' }, environment)).toMatchObject({
    port: 2,
    host: '127.0.0.1',
    databaseUrl: 'postgres://a@b/c',
    publicUrl: 'https://x.example',
  });
});

it('the data directory is known without a check only if no other setting is set', () => {
  for (const [flags, environment] of [
    [{}, {}],
    [{ DATA_DIR: 'here' }, { DATA_DIR: 'there', PORT: '' }],
    [
      { DATA_DIR: '', DATABASE_URL: undefined },
      { DATA_DIR: '/there', PATH: '/bin' },
    ],
  ] as const)
    expect(soleDataDir(flags, environment)).toBe(readConfig(flags, environment).dataDir);
  expect(soleDataDir({ DATA_DIR: 'here' }, { DATABASE_URL: 'postgres://a@b/c' })).toBeUndefined();
  expect(soleDataDir({ DATABASE_URL: 'postgres://a@b/c' }, {})).toBeUndefined();
  expect(soleDataDir({}, { LOG_LEVEL: 'nonsense' })).toBeUndefined();
});

it.each(['graphql-js', 'reference'])('EXECUTOR=%s selects the graphql-js executor', (EXECUTOR) => {
  expect(readConfig({ EXECUTOR }, {}).executor).toBe('graphql-js');
});

it.each([
  ['STORAGE_URL', 's3://bucket'],
  ['STORAGE_URL', 'https://s3.example.com/bucket'],
  ['STORAGE_URL', 'file://host/directory'],
  ['STORAGE_URL', 'file:directory'],
  ['SIGNING_KEYS', 'short'],
  ['SIGNING_KEYS', `${'k'.repeat(32)},`],
  ['FILES_URL', 'files.example.com'],
  ['FILES_URL', 'https://work.example.com/files'],
  ['ATTACHMENT_LIMIT_BYTES', '0'],
  ['ATTACHMENT_LIMIT_BYTES', '2147483648'],
  ['ATTACHMENT_LIMIT_BYTES', '1 GiB'],
  ['REQUESTS_PER_MINUTE', '0'],
  ['REQUESTS_PER_MINUTE', '1000000001'],
  ['COST_PER_HOUR', '-1'],
  ['UNKNOWN_TOKENS_PER_MINUTE', '0'],
  ['MAX_OPERATION_COST', '1e4'],
  ['REDIS_URL', '127.0.0.1:6379'],
  ['REDIS_URL', 'http://127.0.0.1:6379'],
  ['METRICS_ADDRESS', '65536'],
  ['METRICS_ADDRESS', 'metrics.example.com'],
  ['METRICS_ADDRESS', 'http://127.0.0.1:9464'],
  ['METRICS_ADDRESS', '::1:9464'],
  ['METRICS_ADDRESS', '127.0.0.1:4000'],
  ['METRICS_ADDRESS', '0.0.0.0:4000'],
  ['EXPLORER', 'no'],
  ['PREPARED', 'no'],
  ['EXECUTOR', 'fast'],
  ['GRAPHQL_PATH', 'short'],
  ['DOCUMENTS', 'none'],
  ['INTROSPECTION', 'on'],
  ['CORS_ORIGINS', '*'],
  ['CORS_ORIGINS', 'https://app.example.com/'],
  ['CORS_ORIGINS', 'https://app.example.com, null'],
  ['TRUSTED_PROXIES', 'proxy.example.com'],
  ['TRUSTED_PROXIES', '10.0.0.0/33'],
  ['TRUSTED_PROXIES', '10.0.0.0/8/8'],
])('the configuration refuses for %s: %s', (name, value) => {
  const environment = { PUBLIC_URL: 'https://work.example.com', [name]: value };
  expect(() => readConfig({}, environment)).toThrow(new RegExp(`^${name} must be`));
});

it.each([
  ['9464', { host: '127.0.0.1', port: 9464 }],
  ['0.0.0.0:9464', { host: '0.0.0.0', port: 9464 }],
  ['[::1]:0', { host: '::1', port: 0 }],
])('the configuration takes %s as the address of metrics', (METRICS_ADDRESS, metricsAddress) => {
  expect(readConfig({ METRICS_ADDRESS }, {})).toMatchObject({ metricsAddress });
});

it('the configuration takes a store, keys, an origin and a limit of files', () => {
  const keys = ['a'.repeat(32), 'b'.repeat(40)];
  expect(
    readConfig(
      {},
      {
        STORAGE_URL: 'https://KEY:SECRET@s3.example.com/bucket',
        SIGNING_KEYS: keys.join(', '),
        FILES_URL: 'https://files.example.com/',
        ATTACHMENT_LIMIT_BYTES: '5000000',
      },
    ),
  ).toMatchObject({
    storageUrl: 'https://KEY:SECRET@s3.example.com/bucket',
    signingKeys: keys,
    filesUrl: 'https://files.example.com',
    attachmentLimitBytes: 5_000_000,
  });
});

it('the configuration says all that is wrong at once, each under the name it was given by, and no password', () => {
  const environment = {
    DATABASE_URL: 'mysql://root:secret@db',
    PUBLIC_URL: 'work.example.com',
    LOG_LEVEL: 'loud',
  };
  const read = () => readConfig({ PORT: '70000' }, environment);
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(
    /^--port must be a port.*\nPUBLIC_URL must be.*\nDATABASE_URL must be.*\nLOG_LEVEL must be/,
  );
  expect(read).not.toThrow(/secret/);
});
