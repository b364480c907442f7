import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TestResult } from '@jest/test-result';

const runner = join(import.meta.dirname, '../support/native-runner/own-process.ts');
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'workgraph-runner-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the text of a test file, and returns its result. */
async function resultOf(
  text: string,
  options: { randomize?: boolean; seed?: number } = {},
): Promise<TestResult> {
  const testPath = join(folder, 'one.test.ts');
  writeFileSync(testPath, `import { expect, it } from '@jest/globals';\n${text}`);
  const child = fork(runner, {
    serialization: 'advanced',
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const globalConfig = { maxConcurrency: 1, ...options };
  child.send({ globalConfig, config: { rootDir: folder, testMatch: [] }, testPath });
  const [result] = (await once(child, 'message')) as [TestResult];
  child.disconnect();
  return result;
}

it('a test fails if it asserts nothing, or less often than it says', async () => {
  const { testResults } = await resultOf(`
    it('compares', () => expect(1).toBe(1));
    it('asserts nothing', () => {});
    it('waits for what it compares', async () => expect(Promise.resolve(1)).resolves.toBe(1));
    it('counts', () => { expect.assertions(2); expect(1).toBe(1); });
    it('asserts only that it ends', () => expect.assertions(0));
  `);
  expect(
    testResults.map(({ title, status, failureMessages }) => [
      title,
      status,
      failureMessages.join().split('\n', 1)[0],
    ]),
  ).toEqual([
    ['compares', 'passed', ''],
    ['asserts nothing', 'failed', expect.stringContaining('The test asserts nothing.')],
    ['waits for what it compares', 'passed', ''],
    ['counts', 'failed', expect.stringContaining('expect.assertions(2)')],
    ['asserts only that it ends', 'passed', ''],
  ]);
});

it('the failure of a file with random choices names the seed that repeats them', async () => {
  const samples = JSON.stringify(join(import.meta.dirname, '../support/samples.ts'));
  const text = (name: string) => `it('fails', () => expect(${name}).toBe('other'));`;
  const failed = await resultOf(`import { randomOf } from ${samples}; ${text("randomOf('a').bits()")}`);
  expect(failed.failureMessage).toMatch(/SEED=\d+ repeats the random choices of this file\.$/);
  expect((await resultOf(text('1'))).failureMessage).not.toContain('SEED');
});

it('`--randomize` runs the tests of a file in another order, which the seed decides', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const text = names.map((name) => `it('${name}', () => expect(1).toBe(1));`).join('\n');
  const orderOf = async (options = {}) => {
    const { testResults } = await resultOf(text, options);
    return testResults.map(({ title }) => title);
  };
  expect(await orderOf()).toEqual(names);
  const mixed = await orderOf({ randomize: true, seed: 1 });
  expect(mixed.toSorted()).toEqual(names);
  expect(mixed).not.toEqual(names);
  expect(await orderOf({ randomize: true, seed: 1 })).toEqual(mixed);
});
