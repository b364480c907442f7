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

it('the server creates a key at the first start and stores it, readable only by its owner', () => {
  const path = join(dataDir, 'signing-key');
  const [first, ...more] = readSigningKeys({ dataDir, signingKeys: [] });
  expect([first, more]).toEqual([expect.stringMatching(/^[\w-]{43}$/), []]);
  expect(readdirSync(dataDir)).toEqual(['signing-key']);
  chmodSync(path, 0o644);
  expect(readSigningKeys({ dataDir, signingKeys: [] })).toEqual([first]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('the server uses the configured keys in their order, and then creates none', () => {
  expect(readSigningKeys({ dataDir, signingKeys: ['new', 'old'] })).toEqual(['new', 'old']);
  expect(readdirSync(dataDir)).toEqual([]);
});

it('the server refuses a file without a key', () => {
  writeFileSync(join(dataDir, 'signing-key'), '\n');
  expect(() => readSigningKeys({ dataDir, signingKeys: [] })).toThrow(
    'does not contain a key of 32 characters',
  );
});
