import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { ConfigError, readConfig } from '../../src/server/config.ts';

it('has a default for everything', () => {
  expect(readConfig({}, {})).toMatchObject({
    port: 4000,
    host: '127.0.0.1',
    dataDir: join(process.cwd(), '.workgraph'),
    databaseUrl: undefined,
    publicUrl: undefined,
    logLevel: 'info',
  });
});

it('takes flags before the environment, and the empty for nothing', () => {
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

it('says all that is wrong at once, each under the name it was given by, and no password', () => {
  const environment = {
    DATABASE_URL: 'mysql://root:secret@db',
    PUBLIC_URL: 'work.example.com',
    LOG_LEVEL: 'loud',
  };
  const read = () => readConfig({ PORT: '70000' }, environment);
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(
    /^--port must be a port.*\nDATABASE_URL must be.*\nPUBLIC_URL must be.*\nLOG_LEVEL must be/,
  );
  expect(read).not.toThrow(/secret/);
});
