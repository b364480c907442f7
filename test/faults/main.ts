import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { skippedCode } from './support/fault.ts';

// `npm run faults [NAME…]`: each fault is a program of its own, run one after the other; docs/faults.md describes them.
const all = [
  'server-killed',
  'answer-not-kept',
  'hot-team',
  'postgres-killed',
  'postgres-frozen',
  'replica-lag',
  'replica-killed',
  'promotion',
  'connections-cut',
  'network',
  'table-locked',
  'disk-full',
  'directory-held',
  'changes-kept',
  'slow-readers',
  'rolling-restart',
  'restart-streams',
  'worker-restarts',
  'worker-killed',
  'overload',
  'overload-streams',
  'greedy-token',
  'slow-clients',
  'hostile-clients',
  'clock-jumps',
  'steady',
];
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean' }, amount: { type: 'string' } },
});
const names = positionals.length > 0 ? positionals : all;
const unknown = names.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no fault ${unknown.join(', ')}; there are ${all.join(', ')}.\n`);
  process.exit(2);
}
const flags = [...(values.short ? ['--short'] : []), ...(values.amount ? ['--amount', values.amount] : [])];
const failed: string[] = [];
const skipped: string[] = [];
for (const name of names) {
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, `${name}.ts`), ...flags], {
    stdio: 'inherit',
  });
  if (status === skippedCode) skipped.push(name);
  else if (status !== 0) failed.push(name);
}
process.stdout.write(`${names.length - failed.length - skipped.length} faults survived`);
if (skipped.length > 0) process.stdout.write(`; skipped: ${skipped.join(', ')}`);
process.stdout.write(failed.length > 0 ? `; FAILED: ${failed.join(', ')}\n` : '\n');
process.exitCode = failed.length > 0 ? 1 : 0;
