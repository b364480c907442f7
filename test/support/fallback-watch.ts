import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach } from '@jest/globals';
import type { Fallback } from '../../src/executor/run/fallbacks.ts';
import { isDeliberate } from './deliberate-fallbacks.ts';
import { isKnownFallback } from './known-fallbacks.ts';

const { WORKGRAPH_TEST_FALLBACKS: folder, JEST_WORKER_ID: worker } = process.env;
const reportFile = folder && worker ? join(folder, worker) : undefined;
const ownFallbacks: Fallback[] = [];
const record = (fallback: unknown) => void ownFallbacks.push(fallback as Fallback);
/** How many bytes of `reportFile` have been read. An earlier worker with the same number has read those that are there at first. */
let bytesRead = reportFile && existsSync(reportFile) ? statSync(reportFile).size : 0;

/** Lists the unknown fallbacks since the last call, without duplicates. */
export function unknownFallbacks(): string[] {
  const unknown = [...ownFallbacks.splice(0), ...reportedByProcesses()].filter(
    (fallback) => !isKnownFallback(fallback) && !isDeliberate(fallback),
  );
  return [
    ...new Set(unknown.map(({ kind, message, operation }) => `${kind}: ${message} (${operation || '-'})`)),
  ];
}

function check(): void {
  const unknown = unknownFallbacks();
  if (unknown.length > 0)
    throw new Error(
      `graphql-js answered for reasons that known-fallbacks.ts does not list:\n${unknown.join('\n')}`,
    );
}

function reportedByProcesses(): Fallback[] {
  if (!reportFile || !existsSync(reportFile)) return [];
  const unread = readFileSync(reportFile).subarray(bytesRead);
  // A process may be writing its last line right now; that line is read next time.
  const complete = unread.subarray(0, unread.lastIndexOf('\n') + 1);
  bytesRead += complete.length;
  const lines = complete.toString('utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Fallback);
}

/**
 * Called before each test file. A fallback hides that the compiled executor has failed, because graphql-js returns the right
 * answer in its place. So a test fails when any server that it uses, in this process or in one that the test started,
 * falls back for a reason that known-fallbacks.ts does not list.
 */
export function watchFallbacks(): void {
  subscribe('workgraph:fallback', record);
  afterEach(check);
  afterAll(() => {
    unsubscribe('workgraph:fallback', record);
    check();
  });
}
