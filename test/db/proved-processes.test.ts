import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { provedOptions } from '../cli/workgraph.ts';

const script = join(import.meta.dirname, 'foreign-statement-process.ts');

function run(...options: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...options, script], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

it('the prover refuses a statement over two workspaces in a process that has not loaded the rules before', () => {
  expect(run()).toMatchObject({ status: 0, stdout: expect.stringMatching(/^select/) });
  expect(run(...provedOptions)).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining('TenantProofError'),
  });
});

it('the prover refuses a statement over two workspaces even if modules that its rules use are loaded first', () => {
  const first = join(import.meta.dirname, '../../src/db/guard/workspace-value.ts');
  expect(run(...provedOptions, '--import', first)).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining('TenantProofError'),
  });
});
