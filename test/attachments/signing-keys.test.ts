import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { readSigningKeys } from '../../src/server/signing-keys.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'workgraph-key-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

it('the server makes a key at the first start and keeps it, for its owner alone', () => {
  const path = join(dataDir, 'signing-key');
  const [first, ...more] = readSigningKeys({ dataDir, signingKeys: [] });
  expect([first, more]).toEqual([expect.stringMatching(/^[\w-]{43}$/), []]);
  expect(readdirSync(dataDir)).toEqual(['signing-key']);
  chmodSync(path, 0o644);
  expect(readSigningKeys({ dataDir, signingKeys: [] })).toEqual([first]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('the server takes the keys of the configuration in their order, and makes none then', () => {
  expect(readSigningKeys({ dataDir, signingKeys: ['new', 'old'] })).toEqual(['new', 'old']);
  expect(readdirSync(dataDir)).toEqual([]);
});

it('the server refuses a file that holds no key', () => {
  writeFileSync(join(dataDir, 'signing-key'), '\n');
  expect(() => readSigningKeys({ dataDir, signingKeys: [] })).toThrow('holds no key of 32 characters');
});
