import { execFileSync } from 'node:child_process';
import { getHeapSpaceStatistics } from 'node:v8';

/** The flags of a process whose old space is never collected, so that everything that gets there can be counted. */
const flags = [
  '--expose-gc',
  '--max-semi-space-size=16',
  '--initial-old-space-size=1024',
  // bin/workgraph.js sets it as well.
  '--no-allocation-site-pretenuring',
];

/** Runs a file in a process whose old space is not collected, and returns the JSON that it prints. */
export function runUncollected(file: string, env: Record<string, string | undefined> = {}): unknown {
  const printed = execFileSync(process.execPath, [...flags, file], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  return JSON.parse(printed);
}

/** The bytes in the old space of V8. */
export function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? 0;
}
